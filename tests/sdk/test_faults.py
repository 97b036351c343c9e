"""What a developer stumbled over once: each is a sentence at once, or does what the page says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect

from farhand.sdk import (
    Agent,
    Ask,
    Error,
    ModelError,
    Question,
    SdkError,
    SessionContext,
    Text,
    ToolResponse,
    extension,
    hook,
    skill_dir,
    tool,
)
from farhand.sdk.errors import NoAnswer
from farhand.sdk.hooks import AfterToolInput, AfterToolOutput, BeforeAgentInput, BeforeAgentOutput
from farhand.testing.models.gemini import FakeGemini, calls, refuses, says

pytestmark = pytest.mark.anyio

SKILL = "---\nname: weighing\ndescription: Weighs things.\n---\nUse weigh.\n"
TOOL = 'from farhand.sdk import tool\n\n\n@tool\ndef weigh() -> str:\n    """Weighs."""\n    return "12 kg"\n'


def declared(fake: FakeGemini) -> set[str]:
    return {each["name"] for group in fake.last.get("tools", []) for each in group["functionDeclarations"]}


def write_skill(folder: Path) -> None:
    (folder / "tools").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "tools" / "weigh.py").write_text(TOOL)


async def test_a_stream_that_is_left_frees_the_session(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(says("one ", "two ", "three"), says("again"))
    session = make_agent().session()
    async for _ in session.send_stream("hi"):
        break
    assert (await session.send("and now?")).text == "again"


async def test_a_stream_that_is_left_and_kept_is_freed_by_an_interrupt(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(says("one ", "two ", "three"), says("again"))
    session = make_agent().session()
    stream = session.send_stream("hi")
    async for event in stream:
        assert isinstance(event, Text)
        break
    assert [session.busy, await session.interrupt(), session.busy, await session.interrupt()] == [
        True,
        True,
        False,
        False,
    ]
    assert (await session.send("and now?")).text == "again"
    assert [event.type for event in await collect(stream)][-1:] == ["finish"]


async def test_a_stream_that_is_left_and_kept_is_freed_by_close(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(says("one ", "two "))
    session = make_agent().session()
    stream = session.send_stream("hi")
    async for _ in stream:
        break
    await session.close()
    assert not session.busy


async def test_changes_that_nobody_knows_are_refused(make_agent: MakeAgent) -> None:
    with pytest.raises((SdkError, TypeError), match="typo"):
        make_agent().with_changes(typo=1)  # type: ignore[call-arg]


async def test_another_model_and_other_tools_are_taken(fake: FakeGemini, make_agent: MakeAgent) -> None:
    def weigh() -> str:
        """Weighs."""
        return "12 kg"

    fake.expect(says("ok"))
    await make_agent().with_changes(model="gemini-2.5-pro", tools=[weigh]).send("hi")
    assert "gemini-2.5-pro" in fake.requests[-1].path
    assert declared(fake) == {"weigh"}


def test_a_hooks_pattern_must_be_one() -> None:
    with pytest.raises(ValueError, match=r"\["):
        hook("BeforeTool", "[")(lambda _: None)


async def test_a_resumed_session_has_the_tools_of_its_active_skills(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    write_skill(project / "weighing")
    agent = make_agent(skills=[skill_dir("weighing")])
    fake.expect(calls("activate_skill", {"name": "weighing"}), says("Ready."))
    session = agent.session()
    await session.send("weigh it")
    fake.expect(calls("weigh", {}), says("12"))
    resumed = await agent.resume_session(session.id)
    events = await collect(resumed.send_stream("go on"))
    assert [event.content for event in events if isinstance(event, ToolResponse)] == ["12 kg"]


async def test_a_relative_folder_of_skills_means_the_agents_folder(
    fake: FakeGemini, make_agent: MakeAgent, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(project / "weighing")
    monkeypatch.chdir(tmp_path)
    fake.expect(calls("activate_skill", {"name": "weighing"}), says("Ready."))
    await make_agent(extensions=[extension(name="mine", skills=[skill_dir("weighing")])]).send("weigh it")
    assert "weigh" in declared(fake)


async def test_a_sessions_model_is_its_own(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent()
    one, other = agent.session(), agent.session()
    fake.expect(says("a"), says("b"), says("c"))
    await one.send("hi")
    one.use_model("gemini-2.5-pro")
    await one.send("hi")
    await other.send("hi")
    assert [("pro" in request.path) for request in fake.requests] == [False, True, False]


async def test_a_tail_call_knows_who_asked_and_does_not_go_round(fake: FakeGemini, make_agent: MakeAgent) -> None:
    seen: list[tuple[str, str | None]] = []
    ran: list[int] = []

    @tool
    def work() -> str:
        """Works."""
        ran.append(1)
        return "done"

    @tool
    def check() -> str:
        """Checks."""
        return "checked"

    @hook("AfterTool", "work|check")
    def again(event: AfterToolInput) -> AfterToolOutput | None:
        seen.append((event.tool_name, event.original_request_name))
        return AfterToolOutput(tail_tool_call={"name": "check", "args": {}})

    fake.expect(calls("work", {}), says("ok"))
    events = await collect(make_agent(tools=[work, check], hooks=[again]).session().send_stream("go"))
    assert seen == [("work", None), ("check", "work")]
    assert ran == [1]
    assert [event.content for event in events if isinstance(event, ToolResponse)] == ["checked"]


async def test_an_asker_that_fails_is_nobody(fake: FakeGemini, make_agent: MakeAgent) -> None:
    def asker(question: Any, context: SessionContext) -> bool:
        raise RuntimeError("no bell")

    @tool
    def work() -> str:
        """Works."""
        return "done"

    fake.expect(calls("work", {}), says("I may not."))
    events = await collect(make_agent(tools=[work], mode="default", asker=asker).session().send_stream("go"))
    assert any(isinstance(event, Error) and "no bell" in event.message and not event.fatal for event in events)
    assert events[-1].reason == "stop"
    (response,) = [event for event in events if isinstance(event, ToolResponse)]
    assert response.error is not None


async def test_a_resumed_session_knows_its_transcript_before_its_first_turn(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    agent = make_agent()
    fake.expect(says("hello"))
    session = agent.session()
    await session.send("hi")
    resumed = await agent.resume_session(session.id)
    assert resumed.transcript == session.transcript[-2:]
    assert resumed.context.session_id == session.id
    assert Agent(loads=False, records=False, model="gemini-2.5-flash").session().context.cwd


# Structured answers.


@dataclass
class Weight:
    """How heavy something is."""

    kilograms: float


async def test_a_stream_delivers_the_structured_answer(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(says('{"kilograms": 12}'))
    stream = make_agent().session().send_stream("weigh it", output=Weight)
    events = await collect(stream)
    assert events[-1].data == Weight(12)
    assert stream.data == Weight(12)


async def test_a_repeated_turn_keeps_its_type(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(refuses(400, "not now"), says('{"kilograms": 12}'))
    session = make_agent().session()
    with pytest.raises(ModelError):
        await session.send("weigh it", output=Weight)
    assert (await session.retry()).data == Weight(12)


async def test_a_turn_that_ends_without_its_answer_says_so(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("work", {}))

    @tool
    def work() -> str:
        """Works."""
        return "done"

    session = make_agent(tools=[work], max_turns=1).session()
    with pytest.raises(NoAnswer) as caught:
        await session.send("weigh it", output=Weight)
    assert caught.value.result.reason == "max_turns"
    assert [call.name for call in caught.value.result.tool_calls] == ["work"]


async def test_a_blocked_turn_says_that_its_answer_is_missing(fake: FakeGemini, make_agent: MakeAgent) -> None:
    @hook("BeforeAgent")
    def closed(event: BeforeAgentInput) -> BeforeAgentOutput:
        return BeforeAgentOutput(decision="deny", reason="not today")

    session = make_agent(hooks=[closed]).session()
    with pytest.raises(NoAnswer, match="not today") as caught:
        await session.send("weigh it", output=Weight)
    assert (caught.value.result.reason, caught.value.result.data) == ("blocked", None)
    stream = session.send_stream("weigh it", output=Weight)
    assert (await collect(stream))[-1].data is None
    with pytest.raises(NoAnswer):
        _ = stream.data
    assert fake.requests == []


async def test_a_turn_that_was_left_goes_on_with_its_type(fake: FakeGemini, make_agent: MakeAgent) -> None:
    weighed = 0

    @tool
    def weigh() -> str:
        """Weighs."""
        nonlocal weighed
        weighed += 1
        return "12"

    fake.expect(calls("weigh", {}), calls("final_result", {"kilograms": 12}))
    session = make_agent(tools=[weigh]).session()
    async with session.run("weigh it", output=Weight) as run:
        async for event in run:
            if isinstance(event, ToolResponse):
                break
    assert (await session.go_on()).data == Weight(12)
    assert weighed == 1


async def test_a_turn_that_asked_goes_on_elsewhere_with_the_type_it_is_told(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    @tool
    async def weigh(context: SessionContext) -> str:
        """Weighs."""
        return (await context.ask(Question("unit", "choice", "Which unit?", ("kg", "lb")))).choice or ""

    fake.expect(calls("weigh", {}), calls("final_result", {"kilograms": 12}))
    session = make_agent(tools=[weigh], interactive=True).session()
    async with session.run("weigh it", output=Weight) as run:
        async for event in run:
            if isinstance(event, Ask):
                await session.pause()
    assert run.result.reason == "paused"
    resumed = await make_agent(tools=[weigh], interactive=True).resume_session(session.id)
    assert resumed.answer("unit", "kg")
    result = await resumed.go_on(output=Weight)
    assert result.data == Weight(12)
    assert [call.content for call in result.tool_calls if call.name == "weigh"] == ["kg"]
