"""Our ACP client and our ACP server, with each other and with those who break the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk.acp import (
    AcpClient,
    AcpPermission,
    AcpServer,
    AcpSession,
    AcpTurnEnded,
    LocalFiles,
    PeerGone,
    RpcError,
    choose,
)
from farhand.sdk.acp.rpc import Peer
from farhand.sdk.acp.streams import MemoryStream, memory_pair
from farhand.sdk.acp.words import AcpOption, AcpSaid, OtherUpdate, ToolProgress, read_hello, read_session, read_update
from farhand.sdk.agent import Agent
from farhand.sdk.errors import SdkError, SessionBusy
from farhand.testing.models.gemini import FakeGemini, calls, held, refuses, says

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def connected(agent: Agent, **options: Any) -> AsyncIterator[AcpClient]:
    near, far = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(AcpServer(agent).serve, far)
        async with AcpClient(near, **options) as client:
            await client.initialize()
            yield client
        await near.close()


async def turn(session: AcpSession, text: str) -> tuple[list[Any], AcpTurnEnded]:
    *updates, ended = [event async for event in session.prompt(text)]
    assert isinstance(ended, AcpTurnEnded)
    return updates, ended


def text_of(updates: list[Any], role: str = "agent") -> str:
    return "".join(each.content.text for each in updates if isinstance(each, AcpSaid) and each.role == role)


def says_always(kind: str, asked: list[AcpPermission]) -> Callable[[AcpPermission], Any]:
    async def decide(permission: AcpPermission) -> str:
        asked.append(permission)
        return kind

    return decide


async def test_a_turn(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(says("Hello ", "there."))
    async with connected(make_agent()) as client:
        assert client.hello.loads_sessions
        assert client.hello.images
        session = await client.new_session(project)
        updates, ended = await turn(session, "hi")
    assert text_of(updates) == "Hello there."
    assert (ended.stop_reason, ended.input_tokens, ended.output_tokens) == ("end_turn", 100, 10)


@pytest.mark.parametrize(
    ("kind", "written", "asks"),
    [("allow_once", True, 2), ("allow_always", True, 1), ("reject_once", False, 2), ("nonsense", False, 2)],
)
async def test_a_permission_is_answered_by_kind(
    make_agent: MakeAgent, fake: FakeGemini, project: Path, kind: str, written: bool, asks: int
) -> None:
    write = {"file_path": "new.txt", "content": "x"}
    fake.expect(calls("write_file", write, call_id="c"), calls("write_file", write, call_id="d"), says("Done."))
    asked: list[AcpPermission] = []
    async with connected(make_agent(builtin_tools=True), decides=says_always(kind, asked)) as client:
        updates, _ = await turn(await client.new_session(project), "make a file")
    assert (project / "new.txt").exists() is written
    assert len(asked) == asks
    assert asked[0].call.title == "write_file: new.txt"
    assert asked[0].call.kind == "edit"
    assert asked[0].call.content == (
        {"type": "diff", "path": str(project / "new.txt"), "oldText": None, "newText": "x"},
    )
    news = [each for each in updates if isinstance(each, ToolProgress)]
    assert [(each.call, each.started) for each in news] == [("c", True), ("c", False), ("d", True), ("d", False)]
    assert news[1].status == ("completed" if written else "failed")


async def test_a_handler_that_fails_permits_nothing(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("No."))

    async def broken(permission: AcpPermission) -> str:
        raise RuntimeError("oh")

    async with connected(make_agent(builtin_tools=True), decides=broken) as client:
        await turn(await client.new_session(project), "make a file")
    assert not (project / "new.txt").exists()


async def test_modes_and_models(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("Done."))
    async with connected(make_agent(builtin_tools=True)) as client:
        session = await client.new_session(project)
        assert [mode.id for mode in session.info.modes] == ["default", "auto_edit", "plan", "yolo"]
        assert (session.info.current_mode, session.info.current_model) == ("default", "gemini-2.5-flash")
        with pytest.raises(RpcError, match=r"There is no mode 'wild'\. Known: default"):
            await session.set_mode("wild")
        await session.set_mode("auto_edit")
        await session.set_model("gemini-2.5-pro")
        await turn(session, "make a file")
    assert (project / "new.txt").read_text() == "x"
    assert [each.model for each in fake.requests] == ["gemini-2.5-pro"] * 2


async def test_an_agent_with_rules_of_its_own_has_no_modes(make_agent: MakeAgent, project: Path) -> None:
    async with connected(make_agent(approver=lambda _call, _context: "deny")) as client:
        session = await client.new_session(project)
        assert session.info.modes == ()
        with pytest.raises(RpcError, match="its own rules"):
            await session.set_mode("yolo")


async def test_a_turn_is_cancelled_and_the_next_one_runs(
    make_agent: MakeAgent, fake: FakeGemini, project: Path
) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two.", before=1), says("Hello."))
    async with connected(make_agent()) as client:
        session = await client.new_session(project)
        heard = []
        async for event in session.prompt("count"):
            heard.append(event)
            if isinstance(event, AcpSaid):
                with pytest.raises(SessionBusy):
                    await anext(session.prompt("more"))
                await session.cancel()
        gate.set()
        assert isinstance(heard[-1], AcpTurnEnded)
        assert heard[-1].stop_reason == "cancelled"
        updates, ended = await turn(session, "hi")
    assert (text_of(updates), ended.stop_reason) == ("Hello.", "end_turn")


async def test_a_question_that_waits_is_cancelled_with_its_turn(
    make_agent: MakeAgent, fake: FakeGemini, project: Path
) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}))
    asked = anyio.Event()

    async def wait(permission: AcpPermission) -> str:
        asked.set()
        await anyio.sleep_forever()
        return "allow_once"

    async with connected(make_agent(builtin_tools=True), decides=wait) as client:
        session = await client.new_session(project)

        async def cancel() -> None:
            await asked.wait()
            await session.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel)
            _, ended = await turn(session, "make a file")
    assert ended.stop_reason == "cancelled"
    assert not (project / "new.txt").exists()


async def test_leaving_a_turn_early_cancels_it(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two.", before=1), says("Hello."))
    async with connected(make_agent()) as client:
        session = await client.new_session(project)
        prompt = session.prompt("count")
        async for event in prompt:
            if isinstance(event, AcpSaid):
                break
        await prompt.aclose()
        gate.set()
        updates, _ = await turn(session, "hi")
    assert text_of(updates) == "Hello."


async def test_a_session_is_loaded_and_told_again(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    (project / "a.txt").write_text("hello")
    fake.expect(calls("read_file", {"file_path": "a.txt"}, call_id="c"), says("It says hello."), says("You asked."))
    async with connected(make_agent(builtin_tools=True)) as client:
        first = await client.new_session(project)
        await turn(first, "what is in a.txt?")
    async with connected(make_agent(builtin_tools=True)) as client:
        with pytest.raises(RpcError, match="No session 'nothing'"):
            await client.load_session("nothing", project)
        again = await client.load_session(first.id, project)
        assert text_of(again.history, "user") == "what is in a.txt?"
        assert text_of(again.history) == "It says hello."
        told = [each for each in again.history if isinstance(each, ToolProgress)]
        assert [(each.started, each.over) for each in told] == [(True, False), (False, True)]
        updates, _ = await turn(again, "what did I ask?")
    assert text_of(updates) == "You asked."


async def test_images_and_files_in_a_prompt(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(says("I see."))
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "look"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
        {"type": "resource_link", "uri": "file:///b.txt", "name": "b"},
    ]
    async with connected(make_agent()) as client:
        session = await client.new_session(project)
        with pytest.raises(RpcError, match="of type 'film' cannot be read"):
            await anext(session.prompt([{"type": "film"}]))
        async for _ in session.prompt(blocks):
            pass
    parts = fake.last["contents"][-1]["parts"]
    assert parts[1] == {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    assert "inside" in parts[2]["text"]
    assert parts[3]["text"] == "[b](file:///b.txt)"


async def test_a_turn_that_fails_says_why(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(refuses(400, "the model is not in the mood"))
    async with connected(make_agent()) as client:
        session = await client.new_session(project)
        with pytest.raises(RpcError, match="not in the mood"):
            await turn(session, "hi")


async def test_what_cannot_be_is_refused_with_a_sentence(make_agent: MakeAgent, project: Path) -> None:
    async with connected(make_agent()) as client:
        with pytest.raises(RpcError, match="absolute path of a folder; it was 'here'"):
            await client.new_session("here")
        with pytest.raises(RpcError, match="No session 'x' is open"):
            await client.request("session/prompt", {"sessionId": "x", "prompt": []})
        with pytest.raises(RpcError, match=r"This agent has no 'session/dance'\. Known: initialize"):
            await client.request("session/dance", {})
    no_key = Agent(cwd=project, environ={}, loads=False, records=False)
    async with connected(no_key) as client:
        with pytest.raises(RpcError, match="No API key") as refused:
            await client.new_session(project)
        assert refused.value.code == -32000


async def test_connect_and_send(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    """The spec's own utility: messages in, messages out."""
    fake.expect(says("Hello."))
    answers: dict[int, Any] = {}
    updates: list[Any] = []
    news = anyio.Event()

    def on_message(message: dict[str, Any]) -> None:
        nonlocal news
        if "id" in message:
            answers[message["id"]] = message["result"]
        else:
            updates.append(message["params"]["update"])
        news.set()
        news = anyio.Event()

    async def answer(number: int) -> Any:
        with anyio.fail_after(240):
            while number not in answers:
                await news.wait()
        return answers[number]

    async with AcpServer(make_agent()).connect(on_message=on_message) as client:
        await client.send({"id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
        assert (await answer(1))["protocolVersion"] == 1
        await client.send({"id": 2, "method": "session/new", "params": {"cwd": str(project), "mcpServers": []}})
        name = (await answer(2))["sessionId"]
        prompt = [{"type": "text", "text": "hi"}]
        await client.send({"id": 3, "method": "session/prompt", "params": {"sessionId": name, "prompt": prompt}})
        assert (await answer(3))["stopReason"] == "end_turn"
    assert updates == [{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello."}}]


# --- who breaks the protocol


async def lines_from(stream: MemoryStream) -> list[Any]:
    return [json.loads(line) for line in (await stream.receive()).splitlines()]


async def test_the_server_complains_of_what_it_cannot_read_and_goes_on(make_agent: MakeAgent) -> None:
    near, far = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(AcpServer(make_agent()).serve, far)
        for bad, code in ((b"{oh", -32700), (b"\xff\xfe", -32700), (b"[1, 2]", -32600), (b'{"id": {}}', -32600)):
            await near.send(bad + b"\n")
            assert [each["error"]["code"] for each in await lines_from(near)] == [code]
        await near.send(b'{"id": 1, "method": "initialize", "params": [3]}\n')
        assert (await lines_from(near))[0]["result"]["protocolVersion"] == 1
        await near.close()


async def test_a_line_without_end_is_the_end_of_the_connection() -> None:
    near, far = memory_pair()
    async with AcpClient(near, limit=1000) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(far.send, b"x" * 2000)
        with pytest.raises(PeerGone, match="more than 1000 bytes"):
            await client.initialize()


async def test_noise_and_unasked_answers_are_passed_over() -> None:
    near, far = memory_pair()
    noise: list[bytes] = []
    async with AcpClient(near, noise=noise.append) as client, anyio.create_task_group() as tasks:

        async def agent() -> None:
            await far.receive()
            await far.send(b'Loading...\n{"id": 77, "result": {}}\n{"id": 0, "result": {"protocolVersion": 1}}\n')

        tasks.start_soon(agent)
        assert (await client.initialize()).version == 1
    assert noise == [b"Loading..."]


async def test_another_version_and_a_hang_up_are_told() -> None:
    near, far = memory_pair()
    async with AcpClient(near) as client, anyio.create_task_group() as tasks:

        async def agent() -> None:
            await far.receive()
            await far.send(b'{"id": 0, "result": {"protocolVersion": 9}}\n')
            await far.receive()
            await far.close()

        tasks.start_soon(agent)
        with pytest.raises(SdkError, match="speaks version 9 of ACP"):
            await client.initialize()
        with pytest.raises(PeerGone, match="hung up"):
            await client.new_session("/")
        with pytest.raises(PeerGone, match="hung up"):
            await client.new_session("/")


async def test_files_are_read_and_written_inside_the_folder_alone(project: Path) -> None:
    near, far = memory_pair()
    (project / "a.txt").write_text("1\n2\n3\n")

    async def nothing(method: str, params: Any) -> None:
        raise AssertionError(method)

    agent = Peer(far, nothing, nothing)
    async with AcpClient(near, files=LocalFiles(project)), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve)
        asked = {"sessionId": "s", "path": str(project / "a.txt")}
        assert await agent.request("fs/read_text_file", asked) == {"content": "1\n2\n3\n"}
        assert await agent.request("fs/read_text_file", {**asked, "line": 2, "limit": 1}) == {"content": "2\n"}
        await agent.request("fs/write_text_file", {"sessionId": "s", "path": str(project / "b.txt"), "content": "b"})
        for outside in ("/etc/passwd", str(project / ".." / "x"), 7):
            with pytest.raises(RpcError):
                await agent.request("fs/read_text_file", {"sessionId": "s", "path": outside})
        with pytest.raises(RpcError, match="no 'terminal/create'"):
            await agent.request("terminal/create", {"sessionId": "s", "command": "ls"})
        tasks.cancel_scope.cancel()
    assert (project / "b.txt").read_text() == "b"


async def test_terminals(project: Path) -> None:
    from farhand.sdk.acp import LocalTerminals

    terminals = LocalTerminals(project)
    echo = await terminals.call("terminal/create", {"command": "echo", "args": ["héllo"], "outputByteLimit": 5})
    assert await terminals.call("terminal/wait_for_exit", echo) == {"exitCode": 0, "signal": None}
    output = await terminals.call("terminal/output", echo)
    assert output == {"output": "llo\n", "truncated": True, "exitStatus": {"exitCode": 0, "signal": None}}
    line = {"command": "echo $WHO; exit 3", "env": [{"name": "WHO", "value": "me"}]}
    shell = await terminals.call("terminal/create", line)
    assert (await terminals.call("terminal/wait_for_exit", shell))["exitCode"] == 3
    assert (await terminals.call("terminal/output", shell))["output"] == "me\n"
    sleeper = await terminals.call("terminal/create", {"command": "sleep", "args": ["600"]})
    await terminals.call("terminal/kill", sleeper)
    assert (await terminals.call("terminal/wait_for_exit", sleeper))["signal"] is not None
    await terminals.call("terminal/release", sleeper)
    with pytest.raises(RpcError, match="no terminal"):
        await terminals.call("terminal/output", sleeper)
    with pytest.raises(RpcError, match="cannot be started"):
        await terminals.call("terminal/create", {"command": "no-such-program", "args": ["x"]})
    await terminals.call("terminal/create", {"command": "sleep", "args": ["600"]})
    await terminals.close()


# --- words


def test_an_option_is_chosen_by_its_kind() -> None:
    options = [AcpOption("z", "", "allow_always"), AcpOption("y", "", "allow_once"), AcpOption("x", "", "reject_once")]
    assert [choose(options, kind) for kind in ("allow_once", "allow_always", "reject_always", "dance")] == [
        "y",
        "z",
        "x",
        None,
    ]
    assert choose(options[:1], "allow_once") is None
    assert choose(options[1:], "allow_always") == "y"
    assert choose(options[:2], "reject_once") is None


def test_what_is_malformed_costs_itself() -> None:
    assert read_update(None) == OtherUpdate("", {})
    assert read_update({"sessionUpdate": "dance"}).kind == "dance"  # type: ignore[union-attr]
    call = read_update({"sessionUpdate": "tool_call", "title": 7, "content": [3, {"a": 1}], "locations": [{}, 4]})
    assert call == ToolProgress("", started=True, content=({"a": 1},), locations=())
    assert read_hello([]).version == 0
    info = read_session({"modes": {"availableModes": [{"id": 3}, {"id": "a"}]}, "models": 4, "configOptions": [5]})
    assert [mode.id for mode in info.modes] == ["a"]


@asynccontextmanager
async def always_allowing(agent: Agent) -> AsyncIterator[AcpClient]:
    """A client that says yes."""
    async with connected(agent, decides=says_always("allow_once", [])) as client:
        yield client
