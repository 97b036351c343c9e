"""Agents, rules, hooks and tools are typed all the way through: both checkers find the same mistakes, and no other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

# A line that ends in `# wrong` has a mistake that both checkers must find; every other line must pass.
SAMPLE = '''
from typing import assert_type

from farhand.sdk import (
    Agent, Budget, Finish, Result, Session, SessionContext, allow, ask, deny, extension, hook, skill_dir, subagent,
    tool,
)
from farhand.sdk.hooks import (
    AfterAgentInput, AfterAgentOutput, AfterModelInput, AfterModelOutput, AfterToolInput, AfterToolOutput,
    BeforeAgentInput, BeforeAgentOutput, BeforeModelInput, BeforeModelOutput, BeforeToolInput, BeforeToolOutput,
    BeforeToolSelectionInput, BeforeToolSelectionOutput, Hook, NotificationInput, NotificationOutput,
    PreCompressInput, PreCompressOutput, SessionEndInput, SessionEndOutput, SessionStartInput, SessionStartOutput,
)


@hook("BeforeTool", "write_file", name="guard")
def guard(event: BeforeToolInput) -> BeforeToolOutput | None:
    assert_type(event.tool_name, str)
    event.tool_name = "other"  # wrong
    event.prompt  # wrong
    return BeforeToolOutput(decision="deny", reason="no")


assert_type(guard, Hook[BeforeToolInput, BeforeToolOutput])


@hook("AfterTool")
async def after(event: AfterToolInput, context: SessionContext) -> AfterToolOutput:
    text = await context.fs.read("a.txt")
    assert_type(text, str | None)
    return AfterToolOutput(additional_context="x", tail_tool_call={"name": "t", "args": {}})


@hook("SessionStart")
def start(event: SessionStartInput) -> SessionStartOutput:
    if event.source == "nowhere":  # wrong
        return SessionStartOutput()
    return SessionStartOutput(additional_context="x")


@hook("SessionEnd")
def end(event: SessionEndInput, context: SessionContext) -> None:
    assert_type(event.session_id, str)
    assert_type(context.cwd, str)


@hook("BeforeAgent")
async def before_agent(event: BeforeAgentInput) -> BeforeAgentOutput | None:
    return BeforeAgentOutput(stop=True, stop_reason=event.prompt)


@hook("AfterAgent")
def after_agent(event: AfterAgentInput) -> AfterAgentOutput:
    return AfterAgentOutput(clear_context=event.stop_hook_active)


@hook("BeforeModel")
def before_model(event: BeforeModelInput) -> BeforeModelOutput:
    request = event.llm_request
    return BeforeModelOutput(llm_request={"model": request.get("model", "m"), "config": {"temperature": 0}})


@hook("AfterModel")
def after_model(event: AfterModelInput) -> AfterModelOutput:
    return AfterModelOutput(llm_response=event.llm_response)


@hook("BeforeToolSelection")
def select(event: BeforeToolSelectionInput) -> BeforeToolSelectionOutput:
    BeforeToolSelectionOutput(tool_config={"mode": "SOME"})  # wrong
    return BeforeToolSelectionOutput(tool_config={"mode": "ANY", "allowedFunctionNames": ["read_file"]})


@hook("PreCompress")
def compress(event: PreCompressInput) -> PreCompressOutput:
    return PreCompressOutput(system_message=event.trigger)


@hook("Notification")
def notify(event: NotificationInput) -> NotificationOutput:
    NotificationOutput(decision="allow")  # wrong
    return NotificationOutput(system_message=event.message)


def refuse(event: BeforeToolInput) -> BeforeToolOutput:
    BeforeToolOutput(decision="maybe")  # wrong
    BeforeToolOutput(reason=5)  # wrong
    BeforeToolOutput("deny")  # wrong
    return BeforeToolOutput(decision="ask")


def wrong_answer(event: BeforeToolInput) -> AfterToolOutput:
    return AfterToolOutput()


def too_many(event: BeforeToolInput, context: SessionContext, more: int) -> None: ...


hook("BeforeTool")(refuse)
hook("AfterTool")(refuse)  # wrong
hook("BeforeTool")(wrong_answer)  # wrong
hook("BeforeTool")(too_many)  # wrong
hook("BeforeTea")(refuse)  # wrong
hook("BeforeTool", matcher=5)(refuse)  # wrong
hook("BeforeTool", sometimes=True)(refuse)  # wrong


@tool(kind="read", show_errors=True)
def add(a: float, b: float = 1) -> float:
    """Add."""
    return a + b


class State:
    count: int = 0


@tool
def counted(context: SessionContext[State]) -> int:
    """Count."""
    context.deps.cuont  # wrong
    context.deps = State()  # wrong
    assert_type(context.deps, State)
    return context.deps.count


@hook("AfterTool")
def noted(event: AfterToolInput, context: SessionContext[State]) -> None:
    assert_type(context.deps.count, int)
    context.deps.count = "many"  # wrong


assert_type(add(1, b=2), float)
add("1")  # wrong
tool(kind="guess")  # wrong

allow("read_file", add, prefix="git", modes="plan", priority=3, when=lambda call, context: call.name == "x")
allow("read_file", modes=["plan", "yolo"])
allow("read_file", prefx="git")  # wrong
ask("read_file", modes="yollo")  # wrong
deny("read_file", modes=["plan", "yollo"])  # wrong
deny("read_file", priority="high")  # wrong
deny("read_file", when=lambda call: True)  # wrong
allow(5)  # wrong

agent = Agent(
    tools=[add, counted], deps=State(), hooks=[guard, after, noted],
    policies=[allow("read_file")], mode="plan", budget=Budget(turns=3),
    generation={"temperature": 0.5, "thinkingConfig": {"thinkingLevel": "low"}}, skills=[skill_dir(".")],
    subagents=[subagent(name="a", description="b", instructions="c")], extensions=[extension(name="x", hooks=[guard])],
)
Agent(mode="yollo")  # wrong
Agent(moed="plan")  # wrong
Agent(hooks=[print])  # wrong
Agent(hooks=guard)  # wrong
Agent(policies=["read_file"])  # wrong
Agent(skills=["./x"])  # wrong
Agent(generation={"temprature": 1})  # wrong
Agent(generation={"temperature": "hot"})  # wrong
Agent(generation={"thinkingConfig": {"thinkingLevel": "much"}})  # wrong
Agent(budget=3)  # wrong
Agent(approver=3)  # wrong
Budget(turn=3)  # wrong
extension(name="x", hooks=[print])  # wrong
subagent(name="a", description="b", instructons="c")  # wrong

assert_type(agent.with_changes(mode="yolo", model="gemini-2.5-flash"), Agent)
agent.with_changes(mode="yollo")  # wrong
agent.with_changes(modle="gemini-2.5-flash")  # wrong
agent.with_changes(hooks=[print])  # wrong
agent.with_changes(generation={"topq": 1})  # wrong


async def turns(session: Session) -> None:
    assert_type(await session.send("hi"), Result[None])
    assert_type((await session.send("hi", output=int)).data, int)
    async with session.run("hi", output=str) as run:
        async for event in run:
            if isinstance(event, Finish) and event.reason == "finished":  # wrong
                pass
        assert_type(run.data, str)
    run.datum  # wrong
'''


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("typing") / "sample.py"
    path.write_text(SAMPLE)
    settings = {
        "typeCheckingMode": "standard",
        "extraPaths": [str(SOURCE)],
        "pythonVersion": "3.11",
        "reportUnnecessaryComparison": "error",
    }
    (path.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    return path


def expected() -> set[int]:
    return {number for number, line in enumerate(SAMPLE.splitlines(), start=1) if line.endswith("# wrong")}


def test_mypy_finds_every_mistake_and_no_other(sample: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", sample.name],
        cwd=sample.parent,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = {int(line) for line in re.findall(r"^sample\.py:(\d+): error:", ended.stdout, re.MULTILINE)}
    assert found == expected(), ended.stdout + ended.stderr


def test_pyright_finds_every_mistake_and_no_other(sample: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "--project", "."],
        cwd=sample.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = {
        diagnostic["range"]["start"]["line"] + 1
        for diagnostic in json.loads(ended.stdout)["generalDiagnostics"]
        if diagnostic["severity"] == "error"
    }
    assert found == expected(), ended.stdout
