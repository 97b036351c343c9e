"""A worker's own key: its programs speak for that worker over TCP, for nobody else, and only as long as it is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from tests.spec.team import Team, team_house

from farhand.channels.files.answer_pace import MOST_IN_A_MINUTE
from farhand.hooks import forward_to_bridge
from farhand.model.facts import Ended
from farhand.model.worker_keys import held_variables, hiring_of, worker_key
from farhand.store import folder
from farhand.testing.http import local_client
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
NODE_KEY = "k" * 40


def test_a_key_is_of_one_hiring_and_of_one_node() -> None:
    key = worker_key(NODE_KEY, "ann-3")
    assert hiring_of(key, NODE_KEY) == "ann-3"
    assert hiring_of(key, "another node's key") == ""
    for wrong in ("", ".", "ann-3", "ann-3.", key[:-1], key.replace("ann-3", "bob-4"), f"{key}x", NODE_KEY):
        assert hiring_of(wrong, NODE_KEY) == ""
    assert hiring_of(worker_key("", "ann-3"), "") == ""


@pytest.mark.parametrize(
    ("held", "worker"),
    [("ann-3.1", "ann"), ("a-b-12.2", "a-b"), ("ann-3-turns.1", "ann"), ("opencode-server.1", ""), ("ann", "")],
)
def test_a_held_agent_gets_the_key_of_its_hiring(held: str, worker: str) -> None:
    found = held_variables(held, NODE_KEY)
    assert found.get("FARHAND_WORKER", "") == worker
    if worker:
        hiring = held.partition(".")[0].removesuffix("-turns")
        assert hiring_of(found["FARHAND_WORKER_KEY"], NODE_KEY) == hiring


async def call(team: Team, method: str, path: str, body: Any = None, socket: bool = False, **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    transport = httpx2.AsyncHTTPTransport(uds=str(team.settings.http_socket)) if socket else None
    async with local_client(transport=transport, base_url=team.url) as client:
        return (await client.request(method, path, json=body, headers=named)).status_code


def bearer(team: Team, worker: str = "") -> str:
    key = folder.key(team.settings.key)
    return f"Bearer {worker_key(key, team.house.worker(worker).hiring_id) if worker else key}"


def answer(worker: str) -> dict[str, str]:
    return {"session": worker, "text": f"from {worker}"}


CALLERS = ("keyless", "socket", "node", "ann", "ann through a tunnel", "ann from a web page", "another's", "ended")
# For each caller: /response as ann, /response as bob, /notify, /workers.
OPEN = {
    "keyless": (200, 200, 200, 200),
    "socket": (200, 200, 200, 200),
    "node": (200, 200, 200, 200),
    "ann": (200, 403, 200, 200),
    "ann through a tunnel": (403, 403, 403, 403),
    "ann from a web page": (403, 403, 403, 403),
    # No worker's key: then as if there were none.
    "another's": (200, 200, 200, 200),
    "ended": (200, 200, 200, 200),
}
CLOSED = {**OPEN, **dict.fromkeys(("keyless", "another's", "ended"), (403, 403, 403, 403))}


@pytest.mark.parametrize("keyless", [True, False])
async def test_who_may_call_what(tmp_path: Path, bot: FakeBot, keyless: bool) -> None:
    async with team_house(tmp_path, bot, settings={"keyless_tcp": keyless}) as team:
        await team.asks("/team")
        for name in ("ann", "bob", "cid"):
            await team.hire(name)
        ended = bearer(team, "cid")
        await team.house.end("cid")
        await team.house.event(Ended)
        given: dict[str, dict[str, Any]] = {
            "keyless": {},
            "socket": {"socket": True},
            "node": {"authorization": bearer(team)},
            "ann": {"authorization": bearer(team, "ann")},
            "ann through a tunnel": {"authorization": bearer(team, "ann"), "x_forwarded_for": "127.0.0.1"},
            "ann from a web page": {"authorization": bearer(team, "ann"), "origin": "http://localhost:3000"},
            "another's": {"authorization": f"Bearer {worker_key('another node', 'ann-1')}"},
            "ended": {"authorization": ended},
        }
        found = {
            name: (
                await call(team, "POST", "/response", answer("ann"), **given[name]),
                await call(team, "POST", "/response", answer("bob"), **given[name]),
                await call(team, "POST", "/notify", {"text": f"news of {name}"}, **given[name]),
                await call(team, "GET", "/workers", **given[name]),
            )
            for name in CALLERS
        }
        expected = OPEN if keyless else CLOSED
        assert found == expected
        await team.manager.reads("ann: news of ann")
        assert team.house.node.status()["keyless"] == ("local" if keyless else "unix")
        for name in ("ann", ""):
            assert await call(team, "GET", "/api/hub/present", authorization=bearer(team, name)) == (
                403 if name else 200
            )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_a_workers_programs_may_run_as_somebody_else(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    await team.asks("/team")
    await team.hire("ann")
    key = bearer(team, "ann")
    request = f"GET /workers HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: {key}\\r\\nConnection: close\\r\\n\\r\\n"
    program = (
        f'exec 3<>/dev/tcp/127.0.0.1/{team.house.node.port}; printf "{request}" >&3; read -r _ code _ <&3; echo $code'
    )
    done = await anyio.run_process(["/bin/bash", "-c", program], cwd="/", user=65534, group=65534, extra_groups=[])
    assert done.stdout.split() == [b"200"]
    monkeypatch.setenv("FARHAND_WORKER_KEY", key.removeprefix("Bearer "))
    content = forward_to_bridge.body("bob", "hello", "1")
    assert await anyio.to_thread.run_sync(forward_to_bridge.post, f"{team.url}/response", content) == 403
    content = forward_to_bridge.body("ann", "hello", "1")
    assert await anyio.to_thread.run_sync(forward_to_bridge.post, f"{team.url}/response", content) == 200


@pytest.mark.parametrize("whose", ["ann", "", "socket"])
async def test_a_worker_cannot_use_up_an_id_of_whoever_has_the_nodes_key(
    tmp_path: Path, bot: FakeBot, whose: str
) -> None:
    """Neither of a command over the API, nor of an answer that is given for the worker with the node's key."""
    async with team_house(tmp_path, bot) as team:
        await team.asks("/team")
        await team.hire("ann")
        poison: dict[str, Any] = {"authorization": bearer(team, "ann")} if whose == "ann" else {}
        for number in range(3):
            body = {"session": "ann", "text": "poison", "id": number}
            assert await call(team, "POST", "/response", body, socket=whose == "socket", **poison) == 200
        key: dict[str, Any] = {"authorization": bearer(team)}
        say = {"type": "say", "id": "ann:1", "worker": "ann", "text": "hello"}
        assert await call(team, "POST", "/api/hub/commands", say, **key) == 200
        await team.until_told("hello")
        mine = {"session": "ann", "text": "the real answer", "id": 2}
        assert await call(team, "POST", "/response", mine, **key) == 200
        await team.manager.reads("the real answer")


async def test_nobody_claims_the_name_of_workers_programs(team: Team) -> None:
    command = {"type": "say", "id": "1", "worker": "ann", "text": "x"}
    for name in ("response", "Response"):
        assert (
            await call(team, "POST", "/api/hub/commands", command, authorization=bearer(team), x_farhand_via=name)
            == 403
        )


SQUATTER = """
import os, socket
os.setgroups([]); os.setgid(65534); os.setuid(65534)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
print(connection.recv(65536), flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_whoever_takes_the_port_of_a_node_that_is_down_gets_no_answer_and_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FARHAND_WORKER_KEY", "ann-1.key")
    content = forward_to_bridge.body("ann", "hello", "1")
    async with await anyio.open_process([sys.executable, "-I", "-S", "-c", SQUATTER]) as squatter:
        assert squatter.stdout is not None
        lines = BufferedByteReceiveStream(squatter.stdout)
        port = int(await lines.receive_until(b"\n", 20))
        endpoint = f"http://localhost:{port}/response"
        assert await anyio.to_thread.run_sync(forward_to_bridge.post, endpoint, content) == 0
        assert await lines.receive_until(b"\n", 100_000) == b"b''"


async def test_a_workers_key_cannot_fill_the_chat_and_the_disk(team: Team) -> None:
    await team.asks("/team")
    await team.hire("ann")
    await team.hire("bob")
    key = {"authorization": bearer(team, "ann")}
    async with local_client(base_url=team.url, headers=key) as client:
        bodies: list[tuple[str, dict[str, str]]] = [("/response", answer("ann")), ("/notify", {"text": "news"})]
        tries = [bodies[number % 2] for number in range(70)]
        codes = [(await client.post(path, json=body)).status_code for path, body in tries]
    assert codes == [200] * MOST_IN_A_MINUTE + [429] * (70 - MOST_IN_A_MINUTE)
    # Each worker has its own measure, and whoever has the node's key has none.
    assert await call(team, "POST", "/response", answer("bob"), authorization=bearer(team, "bob")) == 200
    assert await call(team, "POST", "/response", answer("ann"), authorization=bearer(team)) == 200
