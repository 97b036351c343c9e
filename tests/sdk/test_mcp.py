"""MCP servers as tools: real ones over every transport, and ones that misbehave."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.test_acp import always_allowing
from tests.sdk.turning import collect

from farhand.sdk import Notice, ToolResponse, hook
from farhand.sdk.hooks import BeforeToolInput
from farhand.sdk.mcp import McpServers, from_client, read_server
from farhand.sdk.mcp.config import BadServer, tool_name
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("patient_servers")]
SERVER = Path(__file__).with_name("mcp_server.py")
HOSTILE = Path(__file__).with_name("hostile_mcp_server.py")
STDIO = {"command": sys.executable, "args": [str(SERVER), "stdio"]}


def hostile(how: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(HOSTILE), how]}


@contextmanager
def served(transport: str) -> Iterator[dict[str, Any]]:
    """A server that listens, as settings name it."""
    command = [sys.executable, str(SERVER), transport]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        yield {"httpUrl" if transport == "http" else "url": address}
        process.kill()


@pytest.fixture(scope="module")
def shared() -> Iterator[dict[str, Any]]:
    """One server for whoever asks nothing about how a server is started: a start takes a second."""
    with served("http") as made:
        yield made


@pytest.fixture(params=["stdio", "http", "sse"])
def reached(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """How a server is reached, over each transport."""
    match request.param:
        case "stdio":
            yield STDIO
        case "http":
            yield request.getfixturevalue("shared")
        case _:
            with served("sse") as made:
                yield made


def settings(home: Path, **values: Any) -> None:
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(values))


def declared(fake: FakeGemini) -> list[str]:
    return [each["name"] for tools in fake.last.get("tools", []) for each in tools["functionDeclarations"]]


def responses(events: list[Any]) -> list[ToolResponse]:
    return [each for each in events if isinstance(each, ToolResponse)]


def notices(events: list[Any]) -> list[str]:
    return [each.message for each in events if isinstance(each, Notice)]


async def test_tools_of_a_server(make_agent: MakeAgent, fake: FakeGemini, home: Path, reached: Any) -> None:
    settings(home, mcpServers={"maths": reached})
    fake.expect(
        calls("mcp_maths_add", {"a": 23, "b": 79}),
        calls("mcp_maths_fails"),
        calls("mcp_maths_picture"),
        says("102."),
    )
    events = await collect(make_agent().session().send_stream("add"))
    assert "mcp_maths_add" in declared(fake)
    added, failed, drawn = responses(events)
    assert added.content == "<untrusted_context>\n102\n</untrusted_context>"
    assert failed.error is not None
    assert "Error executing tool fails" in failed.error
    assert isinstance(drawn.content, list)
    assert drawn.content[1] == {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}
    assert "Add with care." in json.dumps(fake.last["systemInstruction"])


async def test_what_a_server_sees(make_agent: MakeAgent, fake: FakeGemini, home: Path) -> None:
    settings(home, mcpServers={"s": {**STDIO, "env": {"WHO": "me"}}})
    fake.expect(calls("mcp_s_who"), says("ok"))
    events = await collect(make_agent().session().send_stream("who?"))
    assert responses(events)[0].display == "me None </untrusted_context>"
    assert str(responses(events)[0].content).count("</untrusted_context>") == 1


async def test_include_and_exclude(make_agent: MakeAgent, fake: FakeGemini, home: Path, shared: Any) -> None:
    one = {**shared, "includeTools": ["add(int)", "who"], "excludeTools": ["who"]}
    settings(home, mcpServers={"one": one, "two": hostile("dies"), "three": shared}, mcp={"excluded": ["two", "three"]})
    fake.expect(says("ok"))
    events = await collect(make_agent().session().send_stream("hi"))
    assert declared(fake) == ["mcp_one_add"]
    assert notices(events) == []
    settings(home, mcpServers={"one": one, "two": hostile("dies")}, mcp={"allowed": ["one"]})
    fake.expect(says("ok"))
    assert notices(await collect(make_agent().session().send_stream("hi"))) == []


@pytest.mark.parametrize(("trust", "asked"), [(True, 0), (False, 1)])
async def test_a_trusted_server_needs_no_permission(
    make_agent: MakeAgent, fake: FakeGemini, home: Path, shared: Any, trust: bool, asked: int
) -> None:
    settings(home, mcpServers={"s": {**shared, "trust": trust}})
    fake.expect(calls("mcp_s_add", {"a": 1, "b": 2}), says("ok"))
    questions: list[Any] = []

    def yes(question: Any, _context: Any) -> bool:
        questions.append(question)
        return True

    agent = make_agent(mode="default", asker=yes)
    events = await collect(agent.session().send_stream("add"))
    assert len(questions) == asked
    assert responses(events)[0].display == "3"


async def test_an_untrusted_folder_starts_no_server(make_agent: MakeAgent, fake: FakeGemini, home: Path) -> None:
    settings(home, mcpServers={"s": STDIO})
    fake.expect(says("ok"))
    events = await collect(make_agent(trusted=False).session().send_stream("hi"))
    assert declared(fake) == []
    assert any("not trusted" in each for each in notices(events))


async def test_servers_in_code_stay_connected_while_the_agent_is_entered(
    make_agent: MakeAgent, fake: FakeGemini, shared: Any
) -> None:
    fake.expect(calls("mcp_s_add", {"a": 1, "b": 2}), says("3"), calls("mcp_s_add", {"a": 2, "b": 2}), says("4"))
    servers = McpServers({"s": shared})
    async with make_agent(extenders=[servers]) as agent:
        session = agent.session()
        first = await collect(session.send_stream("1 + 2"))
        reached = dict(servers._connections or {})
        second = await collect(session.send_stream("2 + 2"))
        assert (servers._connections or {})["s"] is reached["s"]
    assert [each.display for each in responses(first) + responses(second)] == ["3", "4"]
    assert servers._connections is None


async def test_a_hook_is_told_whose_tool_it_is(make_agent: MakeAgent, fake: FakeGemini, home: Path) -> None:
    settings(home, mcpServers={"s": STDIO})
    fake.expect(calls("mcp_s_add", {"a": 1, "b": 2}), says("3"))
    told: list[Any] = []

    @hook("BeforeTool")
    def look(event: BeforeToolInput, _context: Any) -> None:
        told.append(event.mcp_context)

    await make_agent(hooks=[look]).send("add")
    expected = {"server_name": "s", "tool_name": "add", "command": sys.executable, "args": [str(SERVER), "stdio"]}
    assert told == [expected]


# --- who misbehaves


async def test_silent_dead_and_missing_servers_cost_their_tools_alone(
    make_agent: MakeAgent, fake: FakeGemini, shared: Any
) -> None:
    servers = {
        "dead": hostile("dies"),
        "missing": {"command": "no-such-program"},
        "closed": {"httpUrl": "http://127.0.0.1:1/mcp"},
        "well": shared,
    }
    fake.expect(calls("mcp_well_add", {"a": 1, "b": 2}), says("3"))
    silent = McpServers({"silent": hostile("silent")}, connect_seconds=0.5)
    async with make_agent(extenders=[silent, McpServers(servers)]) as agent:
        events = await collect(agent.session().send_stream("add"))
    assert responses(events)[0].display == "3"
    told = "\n".join(notices(events))
    assert "MCP server 'silent' was not reached: it did not answer within 0.5 seconds." in told
    assert "no licence found" in told
    assert "MCP server 'missing' was not reached" in told
    assert "MCP server 'closed' was not reached" in told
    assert not any("well" in each for each in notices(events))


async def test_noise_bad_schemas_and_an_endless_list(make_agent: MakeAgent, fake: FakeGemini) -> None:
    servers = {how: hostile(how) for how in ("noisy", "schemas", "endless")}
    fake.expect(calls("mcp_noisy_fine"), says("ok"))
    async with make_agent(extenders=[McpServers(servers)]) as agent:
        events = await collect(agent.session().send_stream("hi"))
    assert responses(events)[0].display == "ok"
    names = declared(fake)
    assert [name for name in names if "endless" not in name] == ["mcp_noisy_fine", "mcp_schemas_fine"]
    assert len(names) == 502
    told = notices(events)
    assert len(told) == 3
    assert all("MCP server 'schemas' offers the tool" in each and "left out" in each for each in told)


async def test_a_hanging_call_ends_in_time_and_can_be_interrupted(
    make_agent: MakeAgent, fake: FakeGemini, shared: Any
) -> None:
    fake.expect(calls("mcp_s_hangs"), says("It hangs."), calls("mcp_s_hangs"))
    async with make_agent(extenders=[McpServers({"s": {**shared, "timeout": 1500}})]) as agent:
        session = agent.session()
        events = await collect(session.send_stream("hang"))
        assert "timed out" in str(responses(events)[0].error).lower()
        heard = []
        async for event in session.send_stream("again"):
            heard.append(event.type)
            if event.type == "tool_request":
                await session.interrupt()
        assert heard[-1] == "finish"


async def test_a_flood_is_cut_and_a_death_is_survived(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("mcp_s_floods"), calls("mcp_s_dies"), calls("mcp_s_add", {"a": 1, "b": 2}), says("3"))
    async with make_agent(extenders=[McpServers({"s": STDIO})]) as agent:
        events = await collect(agent.session().send_stream("go"))
    flood, death, added = responses(events)
    assert len(flood.content) < 100_000
    assert "MCP server 's' is gone" in str(death.error)
    assert added.display == "3"
    assert any("is started again" in each for each in notices(events))


async def test_servers_of_an_acp_client(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(calls("mcp_s_who"), says("ok"))
    env = [{"name": "WHO", "value": "editor"}]
    server = {"name": "s", "command": sys.executable, "args": [str(SERVER), "stdio"], "env": env}
    async with always_allowing(make_agent()) as client:
        session = await client.new_session(project, mcp_servers=[server])
        events = [event async for event in session.prompt("who?")]
    assert "editor None" in str(events)


# --- words


def test_names_are_those_of_the_cli() -> None:
    assert tool_name("maths", "add") == "mcp_maths_add"
    assert tool_name("my server", "ä/b") == "mcp_my_server___b"
    assert tool_name("mcp_x", "y") == "mcp_x_y"
    long = tool_name("s" * 40, "t" * 40)
    assert long == "mcp_" + "s" * 26 + "..." + "t" * 30


@pytest.mark.parametrize("raw", [7, {}, {"command": ""}, {"url": "file:///etc/passwd"}, {"httpUrl": 3}])
def test_a_server_that_cannot_be_is_told(raw: Any) -> None:
    with pytest.raises(BadServer, match="MCP server 'x'"):
        read_server("x", raw)


def test_the_forms_of_a_server() -> None:
    assert read_server("x", {"url": "http://h/sse"}).transport == "sse"
    assert read_server("x", {"url": "http://h/mcp", "type": "http"}).transport == "http"
    assert read_server("x", {"httpUrl": "http://h/mcp", "timeout": 5000}).timeout_seconds == 5
    header = [{"name": "a", "value": "b"}]
    asked = from_client([{"type": "http", "name": "x", "url": "http://h/mcp", "headers": header, "trust": True}, 3])
    assert (asked[0].transport, asked[0].headers, asked[0].trusted) == ("http", {"a": "b"}, False)


@pytest.mark.parametrize(
    ("server", "tool", "allowed"),
    [
        ("s", "mcp_s_add", {"tools": {"allowed": ["mcp_s_add"]}}),
        ("s", "mcp_s_add", {"tools": {"allowed": ["mcp_s_add"]}, "mcpServers": {"s": {"command": "the-persons-own"}}}),
        # Another server's tool that happens to be called the same: `s_add` of the server `x`, `add` of `x_s`.
        ("x_s", "mcp_x_s_add", {"tools": {"allowed": ["mcp_x_s_add"]}}),
    ],
)
async def test_a_project_cannot_take_the_name_of_an_allowed_tool(
    make_agent: MakeAgent,
    fake: FakeGemini,
    home: Path,
    project: Path,
    shared: Any,
    server: str,
    tool: str,
    allowed: dict[str, Any],
) -> None:
    settings(home, **allowed)
    settings(project, mcpServers={server: shared})
    fake.expect(calls(tool, {"a": 1, "b": 2}), says("no"))
    questions: list[Any] = []

    def no(question: Any, _context: Any) -> bool:
        questions.append(question)
        return False

    await collect(make_agent(mode="default", asker=no).session().send_stream("add"))
    assert len(questions) == 1


async def test_what_the_person_allows_of_their_own_server_is_not_asked_for(
    make_agent: MakeAgent, fake: FakeGemini, home: Path, shared: Any
) -> None:
    settings(home, mcpServers={"s": shared}, tools={"allowed": ["mcp_s_add"]})
    fake.expect(calls("mcp_s_add", {"a": 1, "b": 2}), says("3"))
    events = await collect(make_agent(mode="default", asker=lambda *_: False).session().send_stream("add"))
    assert responses(events)[0].display == "3"
