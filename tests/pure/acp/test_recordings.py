"""Recorded traffic of four ACP agents becomes facts, and traffic that makes no sense costs itself alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.drivers.acp.schema import read_agent
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.acp.translate import AcpToolCalls, ask_line, blocks_of, lines_of
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.translate import translate
from farhand.model import facts
from farhand.model.errors import DriverError
from farhand.model.facts import Fact
from farhand.model.words import HowEnded, Mode
from farhand.sdk.acp.words import read_ended, read_hello, read_permission, read_session, read_update

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))


def messages(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["msg"] for line in lines if line["dir"] == "incoming"]


def facts_of(recorded: list[dict[str, Any]]) -> list[Fact]:
    """What a node would hear of this traffic, as one turn."""
    calls, lines = AcpToolCalls(), []
    for number, message in enumerate(recorded):
        if message.get("method") == "session/update":
            lines += lines_of("t", read_update(message["params"]["update"]), calls)
        elif message.get("method") == "session/request_permission":
            permission = read_permission(message["params"])
            lines += [*calls.lines("t", permission.call), ask_line("t", f"t/{number}", permission)]
        elif "stopReason" in (message.get("result") or {}):
            lines += lines_of("t", read_ended(message["result"]), calls)
    return [heard.fact for line in lines for heard in translate(json.dumps(line).encode())]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_becomes_facts(path: Path) -> None:
    heard = facts_of(messages(path))
    text = "".join(fact.text for fact in heard if isinstance(fact, facts.Said))
    assert "hello over acp" in text
    endings = [fact.how for fact in heard if isinstance(fact, facts.TurnEnded)]
    assert endings == [HowEnded.COMPLETED, HowEnded.COMPLETED, HowEnded.INTERRUPTED]
    asks = [fact for fact in heard if isinstance(fact, facts.AskRaised)]
    # codex ran the command in its sandbox and asked nobody.
    assert len(asks) == (0 if path.stem == "codex" else 1)
    for ask in asks:
        assert "touch acp.txt" in ask.question + ask.detail
        assert ask.choices[0].allows
        assert not ask.choices[-1].allows
    started = [fact for fact in heard if isinstance(fact, facts.ToolStarted)]
    ended = [fact for fact in heard if isinstance(fact, facts.ToolEnded)]
    assert len(started) == len(ended) == 1
    assert started[0].call == ended[0].call
    assert ended[0].ok
    assert [fact for fact in heard if isinstance(fact, facts.Used)]
    assert not [fact for fact in heard if isinstance(fact, facts.Noted)]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_who_the_agent_is_and_what_it_offers(path: Path) -> None:
    results = [message["result"] for message in messages(path) if isinstance(message.get("result"), dict)]
    hello = read_hello(next(result for result in results if "protocolVersion" in result))
    assert (hello.version, hello.loads_sessions, hello.images) == (1, True, True)
    session = read_session(next(result for result in results if "sessionId" in result))
    assert session.modes
    assert session.current_mode in [mode.id for mode in session.modes]
    assert session.models


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_changed_traffic_is_never_an_error(data: st.DataObject) -> None:
    recorded = messages(data.draw(st.sampled_from(RECORDINGS)))
    message = data.draw(st.sampled_from([each for each in recorded if "params" in each or "result" in each]))
    body = message.get("params") or message["result"]
    target = body.get("update", body) if data.draw(st.booleans()) else body
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JSON)
    for reads in (read_hello, read_session, read_ended, read_update):
        reads(body)
    if "params" in message and isinstance(body.get("update", {}), dict):
        assert isinstance(facts_of([message]), list)


def test_a_picture_goes_as_data_where_it_can_be_seen() -> None:
    prompt = AgentPrompt("p", "look", ("/a/b.png", "/a/c d.txt"))
    seen = blocks_of(prompt, images=True, read=lambda _: b"png")
    assert seen[1] == {"type": "image", "mimeType": "image/png", "data": "cG5n"}
    assert seen[2] == {"type": "resource_link", "uri": "file:///a/c%20d.txt", "name": "c d.txt"}
    assert blocks_of(prompt, images=False)[1]["type"] == "resource_link"
    assert blocks_of(AgentPrompt("p", ""), images=True) == []


def test_an_agent_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "goose.toml"
    path.write_text('command = ["goose", "acp"]\nvariables = ["GOOSE_KEY"]\n[modes]\nplan = "chat"\n')
    assert read_agent(path) == AcpAgent(
        backend="goose", command=("goose", "acp"), variables=("GOOSE_KEY",), modes={Mode.PLAN: "chat"}
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "command"), ("command = []", "is empty"), ("command = 3", "array"), ("[modes", "Expected"), ("a = 1\nb", "")],
)
def test_a_file_that_describes_no_agent_is_told(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(DriverError, match=f"x.toml does not describe an ACP agent: .*{why}"):
        read_agent(path)


def test_the_files_in_the_docs_describe_agents(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "acp-agents.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        path = tmp_path / "agent.toml"
        path.write_text(block)
        agent = read_agent(path)
        assert agent.title
        assert Mode.PLAN in agent.modes
