"""One definition of modes, rules, approver and hooks: for the agent, its subagents, its tools' own acts, and ACP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect

from farhand.sdk import Ask, Notice, SessionContext, ToolResponse, allow, ask, deny, hook, subagent, tool
from farhand.sdk.acp import AcpServer
from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput
from farhand.sdk.policies.rules import PolicyError
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio

TOUCH = calls("run_shell_command", {"command": "touch made.txt"})


def handed() -> Any:
    return calls("invoke_agent", {"agent_name": "whole", "prompt": "work"})


@pytest.fixture(params=["instructions", "agent"])
def parent(request: pytest.FixtureRequest, make_agent: MakeAgent) -> MakeAgent:
    """Makes an agent whose one subagent has either of the two forms, and no guard of its own."""

    def make(**options: Any) -> Any:
        form = {"instructions": "Work."} if request.param == "instructions" else {"agent": make_agent(**WHOLE)}
        one = subagent(name="whole", description="Works.", **form)
        return make_agent(**{**WHOLE, "subagents": [one], **options})

    return make


WHOLE: dict[str, Any] = {"builtin_tools": True}


async def test_the_mode_holds_for_a_subagent(fake: FakeGemini, parent: MakeAgent, project: Path) -> None:
    fake.expect(handed(), TOUCH, says("I may not."), says("Done."))
    await parent(mode="default").send("go")
    assert not (project / "made.txt").exists()


async def test_the_rules_hold_for_a_subagent(fake: FakeGemini, parent: MakeAgent, project: Path) -> None:
    fake.expect(handed(), TOUCH, says("I may not."), says("Done."))
    await parent(mode="yolo", policies=[deny("run_shell_command", subagent="whole")]).send("go")
    assert not (project / "made.txt").exists()


async def test_the_approver_holds_for_a_subagent(fake: FakeGemini, parent: MakeAgent, project: Path) -> None:
    seen = []

    def approver(call: Any, context: SessionContext) -> bool:
        seen.append((call.name, context.session.subagent_name))
        return bool(call.name == "invoke_agent")

    fake.expect(handed(), TOUCH, says("I may not."), says("Done."))
    await parent(approver=approver).send("go")
    assert seen == [("invoke_agent", ""), ("run_shell_command", "whole")]
    assert not (project / "made.txt").exists()


async def test_the_hooks_hold_for_a_subagent(fake: FakeGemini, parent: MakeAgent, project: Path) -> None:
    seen = []

    @hook("BeforeTool", "run_shell_command")
    def guard(event: BeforeToolInput) -> BeforeToolOutput:
        seen.append(event.tool_name)
        return BeforeToolOutput(decision="deny", reason="no shell")

    fake.expect(handed(), TOUCH, says("I may not."), says("Done."))
    await parent(hooks=[guard]).send("go")
    assert seen == ["run_shell_command"]
    assert not (project / "made.txt").exists()


async def test_what_the_parent_asks_its_own_person_is_asked(fake: FakeGemini, make_agent: MakeAgent) -> None:
    """A subagent that brought an asker which always says yes does not answer in the place of its parent's person."""
    whole = make_agent(**WHOLE, asker=lambda _question, _context: True)
    one = subagent(name="whole", description="Works.", agent=whole)
    session = make_agent(subagents=[one], interactive=True, policies=[ask("run_shell_command")]).session()
    fake.expect(handed(), TOUCH, says("I may not."), says("Done."))
    asked = []
    async for event in session.send_stream("go"):
        if isinstance(event, Ask):
            asked.append(event.question.text)
            session.answer(event.question.id, reply=False)
    assert len(asked) == 1
    assert asked[0].startswith("whole: ")
    assert not (session.cwd / "made.txt").exists()


async def test_one_person_is_asked_once(fake: FakeGemini, parent: MakeAgent, project: Path) -> None:
    session = parent(interactive=True, mode="default").session()
    fake.expect(handed(), TOUCH, says("Touched."), says("Done."))
    asked = []
    async for event in session.send_stream("go"):
        if isinstance(event, Ask):
            asked.append(event.question.id)
            session.answer(event.question.id, reply=True)
    assert len(asked) == 1
    assert (project / "made.txt").exists()


async def test_a_mode_that_is_changed_holds_at_once_for_a_subagent(
    fake: FakeGemini, parent: MakeAgent, project: Path
) -> None:
    agent = parent(mode="yolo")
    session = agent.session()
    fake.expect(handed(), calls("list_directory", {"dir_path": "."}), TOUCH, says("I may not."), says("Done."))
    async for event in session.send_stream("go"):
        if isinstance(event, Notice) and "list_directory" in event.message:
            agent.mode = "plan"
    assert not (project / "made.txt").exists()


# What a tool does with its own hands.


async def test_plan_holds_for_what_a_tool_does_itself(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    refused = []

    @tool(kind="read")
    async def look(context: SessionContext) -> str:
        """Looks, it says."""
        for act in (context.fs.write("a.txt", "x"), context.shell.exec("touch b.txt")):
            try:
                await act
            except PolicyError as error:
                refused.append(str(error))
        return str(await context.fs.read("c.txt"))

    (project / "c.txt").write_text("hello")
    fake.expect(calls("look", {}), says("Done."))
    events = await collect(make_agent(tools=[look], mode="plan").session().send_stream("go"))
    assert [event.content for event in events if isinstance(event, ToolResponse)] == ["hello"]
    assert len(refused) == 2
    assert not (project / "a.txt").exists()
    assert not (project / "b.txt").exists()


# What a tool says of itself.


def kinds() -> list[Any]:
    @tool(kind="read")
    def look() -> str:
        """Looks."""
        return "looked"

    @tool(kind="edit")
    def edit() -> str:
        """Edits."""
        return "edited"

    @tool(kind="execute")
    def execute() -> str:
        """Executes."""
        return "executed"

    @tool
    def other() -> str:
        """Does something."""
        return "done"

    return [look, edit, execute, other]


@pytest.mark.parametrize(
    ("mode", "ran"),
    [("default", ["looked"]), ("auto_edit", ["looked", "edited"]), ("plan", ["looked"]), ("yolo", None)],
)
async def test_the_kind_of_a_tool_counts(
    fake: FakeGemini, make_agent: MakeAgent, mode: str, ran: list[str] | None
) -> None:
    fake.expect(*(calls(name, {}) for name in ("look", "edit", "execute", "other")), says("Done."))
    events = await collect(make_agent(tools=kinds(), mode=mode).session().send_stream("go"))
    done = [event.content for event in events if isinstance(event, ToolResponse) and event.error is None]
    assert done == (["looked", "edited", "executed", "done"] if ran is None else ran)


async def test_a_tool_that_nobody_can_permit_is_told(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("look", {}), says("Done."))
    agent = make_agent(tools=kinds(), policies=[deny("web_fetch"), allow("edit")])
    events = await collect(agent.session().send_stream("go"))
    told = [event.message for event in events if isinstance(event, Notice)]
    assert [message.split(" ", 1)[0] for message in told] == ["execute,"]
    assert "other" in told[0]
    assert [event.content for event in events if isinstance(event, ToolResponse)] == ["looked"]


async def test_commands_that_only_look_run_with_nobody_there(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    (project / "seen.txt").write_text("x")
    fake.expect(calls("run_shell_command", {"command": "ls"}), TOUCH, says("Done."))
    events = await collect(make_agent(**WHOLE, mode="default").session().send_stream("go"))
    first, second = [event for event in events if isinstance(event, ToolResponse)]
    assert "seen.txt" in first.content
    assert second.error is not None
    assert not (project / "made.txt").exists()


# ACP.


class Client:
    """A client in the same process that allows or rejects what it is asked."""

    def __init__(self, agent: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._connection = AcpServer(agent).connect(on_message=self._take)
        self._answers: dict[int, Any] = {}
        self._number = 0

    async def _take(self, message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            self.asked.append(message["params"])
            outcome = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
            await self._connection.send({"id": message["id"], "result": outcome})
        elif "id" in message:
            self._answers[message["id"]].set_result(message)

    async def call(self, method: str, **params: Any) -> Any:
        import asyncio

        self._number += 1
        waiting = self._answers[self._number] = asyncio.get_running_loop().create_future()
        await self._connection.send({"id": self._number, "method": method, "params": params})
        return await waiting

    async def new(self, cwd: Path) -> dict[str, Any]:
        result: dict[str, Any] = (await self.call("session/new", cwd=str(cwd), mcpServers=[]))["result"]
        return result

    async def prompt(self, session: str) -> Any:
        return await self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])

    async def close(self) -> None:
        await self._connection.close()


async def test_a_build_file_is_asked_for_over_acp_in_every_mode(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    fake.expect(calls("write_file", {"file_path": "Makefile", "content": "x"}), says("I may not."))
    client = Client(make_agent(**WHOLE, mode="auto_edit"))
    opened = await client.new(project)
    assert opened["modes"]["currentModeId"] == "auto_edit"
    await client.prompt(opened["sessionId"])
    await client.close()
    assert len(client.asked) == 1
    assert not (project / "Makefile").exists()


async def test_acp_shows_and_sets_the_agents_own_mode(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    client = Client(make_agent(**WHOLE, mode="plan"))
    opened = await client.new(project)
    assert opened["modes"]["currentModeId"] == "plan"
    session = opened["sessionId"]
    fake.expect(TOUCH, says("I may not."), TOUCH, says("Done."))
    await client.prompt(session)
    assert not (project / "made.txt").exists()
    assert "error" not in await client.call("session/set_mode", sessionId=session, modeId="yolo")
    await client.prompt(session)
    assert (project / "made.txt").exists()
    assert client.asked == []
    await client.close()


async def test_acp_refuses_a_mode_that_the_settings_switch_off(
    make_agent: MakeAgent, home: Path, project: Path
) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"security": {"disableYoloMode": True}}))
    client = Client(make_agent(**WHOLE))
    opened = await client.new(project)
    assert [mode["id"] for mode in opened["modes"]["availableModes"]] == ["default", "auto_edit", "plan"]
    answer = await client.call("session/set_mode", sessionId=opened["sessionId"], modeId="yolo")
    assert "yolo" in answer["error"]["message"]
    await client.close()
