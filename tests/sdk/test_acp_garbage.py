"""Whatever a client sends, the ACP server lives on and answers the next one who asks properly."""

from __future__ import annotations

import json
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from farhand.sdk import Agent, FakeModel
from farhand.sdk.acp import AcpServer
from farhand.sdk.acp.streams import memory_pair

METHODS = ["initialize", "session/new", "session/load", "session/prompt", "session/cancel", "session/set_mode", "x"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PARAMS = VALUES | st.dictionaries(st.sampled_from(["sessionId", "cwd", "prompt", "mcpServers", "modeId"]), VALUES)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "id": VALUES,
        "method": st.sampled_from(METHODS) | VALUES,
        "params": PARAMS,
        "result": VALUES,
        "error": VALUES,
    },
)
LINES = st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")) | MESSAGES.map(
    lambda each: json.dumps(each).encode()
)


async def last_answer(lines: list[bytes]) -> Any:
    """What the server says to a proper request after these lines."""
    near, far = memory_pair()
    agent = Agent(model=FakeModel([]), loads=False, records=False, builtin_tools=False)
    answer: Any = None
    with anyio.fail_after(240):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(AcpServer(agent).serve, far)
            for line in lines:
                await near.send(line + b"\n")
            await near.send(b'{"jsonrpc": "2.0", "id": "the last", "method": "initialize", "params": {}}\n')
            while answer is None:
                message = json.loads(await near.receive())
                if message.get("id") == "the last" and "result" in message:
                    answer = message["result"]
            await near.close()
    return answer


@given(st.lists(LINES, max_size=6))
def test_the_server_lives_on(lines: list[bytes]) -> None:
    assert anyio.run(last_answer, lines)["protocolVersion"] == 1
