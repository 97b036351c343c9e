"""The Validation lines of the SDK's specification for tools and their context, seen on the wire."""

from __future__ import annotations

import base64
import gc
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Agent, Ask, Reply, SessionContext, ToolError, ToolRequest, ToolResponse, tool
from farhand.sdk.session import Session
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio


def response_of(fake: FakeGemini, index: int = 0) -> Any:
    parts = fake.last["contents"][-1]["parts"]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part][index]


def declared(fake: FakeGemini) -> dict[str, Any]:
    return {each["name"]: each for tools in fake.last["tools"] for each in tools["functionDeclarations"]}


async def test_the_example_of_the_specification(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @tool(name="add", description="add two numbers")
    def add_tool(
        a: Annotated[float, "first number to add"], b: Annotated[float, "second number to add"]
    ) -> dict[str, float]:
        return {"result": a + b}

    fake.expect(calls("add", {"a": 23, "b": 79}), says("102"))
    result = await make_agent(tools=[add_tool]).send("what is 23 + 79?")
    assert result.text == "102"
    assert declared(fake)["add"] == {
        "name": "add",
        "description": "add two numbers",
        "parametersJsonSchema": {
            "type": "object",
            "properties": {
                "a": {"type": "number", "description": "first number to add"},
                "b": {"type": "number", "description": "second number to add"},
            },
            "required": ["a", "b"],
        },
    }
    assert json.loads(response_of(fake)["output"]) == {"result": 102}


async def test_typed_arguments_arrive_typed_and_wrong_ones_are_told(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @dataclass
    class Place:
        city: str
        level: Literal["street", "roof"] = "street"

    seen: list[Place] = []

    @tool
    async def look(place: Place) -> str:
        """Looks."""
        seen.append(place)
        return "blue"

    fake.expect(
        calls("look", {"place": {"city": "Oslo", "level": "cellar"}}), calls("look", {"place": {"city": "Oslo"}})
    )
    fake.expect(says("ok"))
    await make_agent(tools=[look]).send("hi")
    refused = fake.requests[1].body["contents"][-1]["parts"][0]["functionResponse"]["response"]
    assert "place.level should be one of 'street', 'roof', and is 'cellar'" in refused["error"]
    assert response_of(fake) == {"output": "blue"}
    assert seen == [Place("Oslo")]


async def test_errors_reach_the_model_only_by_choice(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @tool
    def hidden() -> None:
        """Fails."""
        raise ValueError("password is 12345")

    @tool(show_errors=True)
    def shown() -> None:
        """Fails."""
        raise ValueError("city is unknown")

    @tool
    def meant() -> None:
        """Fails."""
        raise ToolError("Try Paris.")

    fake.expect(calls_all(("hidden", {}, "1"), ("shown", {}, "2"), ("meant", {}, "3")), says("ok"))
    session = make_agent(tools=[hidden, shown, meant]).session()
    events = [event async for event in session.send_stream("hi")]
    assert "12345" not in json.dumps(fake.last["contents"])
    assert "city is unknown" in response_of(fake, 1)["error"]
    assert response_of(fake, 2) == {"error": "Try Paris."}
    told = [event for event in events if isinstance(event, ToolResponse)]
    assert "password is 12345" in str(told[0])


async def test_the_context_is_the_sessions_own(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    seen: dict[str, Any] = {}

    @tool
    async def look(context: SessionContext) -> str:
        """Looks."""
        seen.update(
            session_id=context.session_id,
            cwd=context.cwd,
            agent=context.agent,
            session=context.session,
            last=context.transcript[-1]["parts"][0]["functionCall"]["name"],
            recorded=Path(context.transcript_path).exists(),
            timestamp=context.timestamp,
        )
        await context.fs.write("note.txt", "written by a tool")
        return (await context.shell.exec("cat note.txt")).stdout

    fake.expect(calls("look"), says("ok"))
    agent = make_agent(tools=[look])
    session = agent.session()
    await session.send("hi")
    assert response_of(fake) == {"output": "written by a tool"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", seen.pop("timestamp"))
    assert seen == {
        "session_id": session.id,
        "cwd": str(project),
        "agent": agent,
        "session": session,
        "last": "look",
        "recorded": True,
    }
    assert isinstance(seen["agent"], Agent)
    assert isinstance(seen["session"], Session)


async def test_built_in_tools_are_declared_with_the_names_of_the_cli(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("ok"))
    await make_agent(builtin_tools=True).send("hi")
    assert set(declared(fake)) == {
        "list_directory",
        "read_file",
        "read_many_files",
        "glob",
        "grep_search",
        "write_file",
        "replace",
        "run_shell_command",
        "web_fetch",
        "write_todos",
        "ask_user",
    }
    assert declared(fake)["read_file"]["parametersJsonSchema"]["required"] == ["file_path"]


async def test_a_day_of_work_with_the_built_in_tools(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(
        calls("write_file", {"file_path": "a.py", "content": "x = 1\n"}),
        calls("replace", {"file_path": "a.py", "instruction": "two", "old_string": "1", "new_string": "2"}),
        calls("grep_search", {"pattern": "x = "}),
        calls("glob", {"pattern": "*.py"}),
        calls("run_shell_command", {"command": "python3 -c 'import a; print(a.x)'", "description": "try it"}),
        says("done"),
    )
    result = await make_agent(builtin_tools=True).send("hi")
    assert result.text == "done"
    outputs = [
        part["functionResponse"]["response"]["output"]
        for content in fake.last["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert outputs[0] == "Created a.py."
    assert outputs[1] == "Changed a.py in 1 place."
    assert "File: a.py\nL1: x = 2" in outputs[2]
    assert str(project / "a.py") in outputs[3]
    assert "Output: 2\n" in outputs[4]


async def test_a_picture_reaches_the_model_as_a_picture(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    (project / "dot.png").write_bytes(b"\x89PNG\0")
    fake.expect(calls("read_file", {"file_path": "dot.png"}), says("a dot"))
    await make_agent(builtin_tools=True).send("what is on dot.png?")
    data = base64.b64encode(b"\x89PNG\0").decode()
    assert f'"data": "{data}"' in json.dumps(fake.last["contents"][-1])


async def test_what_was_cut_can_be_read_in_a_later_turn(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("run_shell_command", {"command": "seq 1 100000"}), says("long"))
    session = make_agent(builtin_tools=True).session()
    await session.send("count")
    output = response_of(fake)["output"]
    assert len(output) < 41_000
    where = re.search(r"the whole of it is in (\S+) \.\.\.", output)
    assert where is not None
    fake.expect(calls("read_file", {"file_path": where[1], "start_line": 77777, "end_line": 77777}), says("ok"))
    await session.send("and line 77777?")
    assert "77777\n" in response_of(fake)["output"]


async def test_without_a_recording_long_output_is_kept_in_private_and_goes_with_the_agent(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    fake.expect(calls("run_shell_command", {"command": "seq 1 100000"}), says("long"))
    agent = make_agent(builtin_tools=True, records=False)
    await agent.send("count")
    where = re.search(r"the whole of it is in (\S+) \.\.\.", response_of(fake)["output"])
    assert where is not None
    kept = Path(where[1])
    assert kept.read_text().endswith("100000\n")
    assert agent.temporary_folder().stat().st_mode & 0o077 == 0
    del agent
    gc.collect()
    assert not kept.exists()


async def test_ask_user_waits_for_the_person(make_agent: MakeAgent, fake: FakeGemini) -> None:
    question = {"question": "Which?", "header": "Pick", "type": "choice", "options": [{"label": "A"}, {"label": "B"}]}
    fake.expect(calls("ask_user", {"questions": [question]}), says("ok"))
    # A person may take longer than any tool.
    session = make_agent(builtin_tools=True, interactive=True, tool_timeout_seconds=0.01).session()
    async for event in session.send_stream("hi"):
        if isinstance(event, Ask):
            late = time.monotonic() + 0.05
            await until(lambda moment=late: time.monotonic() > moment)  # type: ignore[misc]
            assert event.question.choices == ("A", "B")
            assert session.answer(event.question.id, Reply(answered=True, choice="B"))
    assert json.loads(response_of(fake)["output"]) == {"answers": {"0": "B"}}


async def test_closing_the_session_ends_background_commands(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("run_shell_command", {"command": "sleep 1000", "is_background": True}), says("ok"))
    async with make_agent(builtin_tools=True).session() as session:
        await session.send("serve")
        found = re.search(r"PID (\d+)", response_of(fake)["output"])
        assert found is not None
        os.kill(int(found[1]), 0)
    await until(lambda: not Path(f"/proc/{found[1]}").exists())


async def test_interrupting_a_command_ends_it_and_the_transcript_stays_whole(
    make_agent: MakeAgent, fake: FakeGemini, project: Path
) -> None:
    fake.expect(calls("run_shell_command", {"command": "echo $$ > pid; sleep 1000"}, call_id="c1"), says("later"))
    session = make_agent(builtin_tools=True).session()
    marker = project / "pid"
    async for event in session.send_stream("wait"):
        if isinstance(event, ToolRequest):
            await until(lambda: marker.exists() and bool(marker.read_text()))
            await session.interrupt()
    pid = int(marker.read_text())
    await until(lambda: not Path(f"/proc/{pid}").exists())
    assert session.transcript[-1]["parts"][0]["functionResponse"]["id"] == "c1"
    assert (await session.send("go on")).text == "later"


async def test_the_model_cannot_leave_the_workspace(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    (project.parent / "secret.txt").write_text("SECRET")
    (project / "link").symlink_to(project.parent)
    fake.expect(
        calls_all(
            ("read_file", {"file_path": "../secret.txt"}, "1"),
            ("read_file", {"file_path": "link/secret.txt"}, "2"),
            ("write_file", {"file_path": "link/new.txt", "content": "x"}, "3"),
            ("grep_search", {"pattern": "SECRET", "dir_path": ".."}, "4"),
        ),
        says("ok"),
    )
    await make_agent(builtin_tools=True).send("hi")
    assert "SECRET" not in json.dumps(fake.last["contents"][-1]).replace("SECRET' in", "")
    for index in range(4):
        assert "outside the workspace" in response_of(fake, index)["error"]
    assert not (project.parent / "new.txt").exists()
