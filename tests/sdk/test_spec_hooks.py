"""The Validation lines of the SDK's specification for hooks: what each event does is seen on the wire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Ask, Finish, Notice, SessionContext, Text, ToolResponse, hook, tool
from farhand.sdk.hooks import (
    AfterAgentInput,
    AfterAgentOutput,
    AfterModelInput,
    AfterModelOutput,
    AfterToolInput,
    AfterToolOutput,
    BeforeAgentInput,
    BeforeAgentOutput,
    BeforeModelInput,
    BeforeModelOutput,
    BeforeToolInput,
    BeforeToolOutput,
    BeforeToolSelectionInput,
    BeforeToolSelectionOutput,
    LLMRequest,
    NotificationInput,
    NotificationOutput,
    PreCompressInput,
    PreCompressOutput,
    SessionEndInput,
    SessionStartInput,
    SessionStartOutput,
)
from farhand.sdk.hooks.shapes import LLMMessage
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


@tool
def weather(city: str, unit: str = "C") -> str:
    """Tells the weather."""
    return f"{city}: 21 {unit}"


async def collect(events: AsyncIterator[Any]) -> list[Any]:
    return [event async for event in events]


def last_user_texts(fake: FakeGemini) -> list[str]:
    return [part["text"] for part in fake.last["contents"][-1]["parts"] if "text" in part]


def response_of(fake: FakeGemini) -> dict[str, Any]:
    parts = fake.last["contents"][-1]["parts"]
    found = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    assert len(found) == 1
    return dict(found[0])


def configure(project: Path, event: str, *commands: str, **more: Any) -> None:
    hooks = {event: [{"hooks": [{"type": "command", "command": each} for each in commands], **more}]}
    (project / ".gemini").mkdir(exist_ok=True)
    (project / ".gemini" / "settings.json").write_text(json.dumps({"hooks": hooks}))


# Each event injects what it may.


async def test_session_start_adds_context(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("SessionStart", "startup")
    def start(event: SessionStartInput) -> SessionStartOutput:
        return SessionStartOutput(additional_context=f"Begun by {event.source}.", system_message="Welcome.")

    fake.expect(says("ok"), says("ok"))
    async with make_agent(hooks=[start]).session() as session:
        events = await collect(session.send_stream("hi"))
        assert last_user_texts(fake) == ["hi", "<hook_context>Begun by startup.</hook_context>"]
        assert Notice("Welcome.", "SessionStart") in events
        await session.send("again")
    assert last_user_texts(fake) == ["again"]


async def test_session_end_is_told(make_agent: MakeAgent, fake: FakeGemini) -> None:
    reasons: list[str] = []

    @hook("SessionEnd")
    def end(event: SessionEndInput) -> None:
        reasons.append(event.reason)

    fake.expect(says("ok"))
    await make_agent(hooks=[end]).send("hi")
    assert reasons == ["exit"]


async def test_before_agent_adds_context_to_the_prompt(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeAgent")
    async def add(event: BeforeAgentInput, context: SessionContext) -> BeforeAgentOutput:
        branch = (await context.shell.exec("echo main")).stdout.strip()
        return BeforeAgentOutput(additional_context=f"On {branch}. <b> {event.prompt}")

    fake.expect(says("ok"))
    await make_agent(hooks=[add]).send("hi")
    assert last_user_texts(fake) == ["hi", "<hook_context>On main. &lt;b&gt; hi</hook_context>"]


async def test_after_agent_sends_the_agent_round_again(make_agent: MakeAgent, fake: FakeGemini) -> None:
    heard: list[AfterAgentInput] = []

    @hook("AfterAgent")
    def check(event: AfterAgentInput) -> AfterAgentOutput | None:
        heard.append(event)
        if event.stop_hook_active:
            return None
        return AfterAgentOutput(decision="deny", reason="Now run the tests.")

    fake.expect(says("Done", "."), says("They pass."))
    result = await make_agent(hooks=[check]).send("fix it")
    assert last_user_texts(fake) == ["Now run the tests."]
    assert [(event.prompt_response, event.stop_hook_active) for event in heard] == [
        ("Done.", False),
        ("They pass.", True),
    ]
    assert result.text == "They pass."


async def test_after_agent_clears_the_conversation(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterAgent")
    def clear(event: AfterAgentInput) -> AfterAgentOutput:
        return AfterAgentOutput(clear_context=True)

    fake.expect(says("one"), says("two"))
    session = make_agent(hooks=[clear]).session()
    await session.send("first words")
    await session.send("second words")
    assert "first words" not in json.dumps(fake.last["contents"])


async def test_before_model_changes_the_request(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeModel")
    def cool(event: BeforeModelInput) -> BeforeModelOutput:
        messages = event.llm_request["messages"]
        asked: LLMMessage = {"role": "user", "content": "say it in French"}
        request: LLMRequest = {"model": "gemini-2.5-pro", "messages": [*messages[:-1], asked]}
        return BeforeModelOutput(llm_request={**request, "config": {"temperature": 0.5}})

    fake.expect(says("ok"))
    await make_agent(hooks=[cool]).send("say it")
    assert fake.requests[-1].model == "gemini-2.5-pro"
    assert fake.last["generationConfig"]["temperature"] == 0.5
    assert last_user_texts(fake) == ["say it in French"]


@pytest.mark.parametrize("decision", ["deny", None])
async def test_before_model_answers_in_the_models_place(make_agent: MakeAgent, fake: FakeGemini, decision: Any) -> None:
    @hook("BeforeModel")
    def answer(event: BeforeModelInput) -> BeforeModelOutput:
        return BeforeModelOutput(
            decision=decision,
            reason="cached",
            llm_response={"candidates": [{"content": {"role": "model", "parts": ["from the cache"]}}]},
        )

    result = await make_agent(hooks=[answer]).send("hi")
    assert result.text == "from the cache"
    assert fake.requests == []


async def test_before_tool_selection_narrows_the_choice(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeToolSelection")
    def narrow(event: BeforeToolSelectionInput) -> BeforeToolSelectionOutput:
        return BeforeToolSelectionOutput(tool_config={"mode": "ANY", "allowedFunctionNames": ["weather"]})

    fake.expect(says("ok"))
    await make_agent(hooks=[narrow], tools=[weather]).send("hi")
    assert fake.last["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}}


async def test_after_model_replaces_each_piece(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterModel")
    def redact(event: AfterModelInput) -> AfterModelOutput | None:
        text = event.llm_response.get("text") or ""
        if "secret" not in text:
            return None
        parts = [text.replace("secret", "[...]")]
        return AfterModelOutput(llm_response={"candidates": [{"content": {"role": "model", "parts": parts}}]})

    fake.expect(says("the ", "secret word"), says("ok"))
    session = make_agent(hooks=[redact]).session()
    events = await collect(session.send_stream("hi"))
    assert [event.text for event in events if isinstance(event, Text)] == ["the ", "[...] word"]
    await session.send("again")
    assert "secret" not in json.dumps(fake.last["contents"])


async def test_before_tool_changes_only_the_argument_it_names(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeTool", "weather")
    def metric(event: BeforeToolInput) -> BeforeToolOutput:
        return BeforeToolOutput(tool_input={"unit": "K"})

    fake.expect(calls("weather", {"city": "Oslo", "unit": "F"}), says("ok"))
    await make_agent(hooks=[metric], tools=[weather]).send("hi")
    changed = "[A hook changed the arguments of this call before it ran.]"
    assert response_of(fake) == {"output": f"Oslo: 21 K\n\n{changed}"}


async def test_before_tool_refuses(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeTool")
    def guard(event: BeforeToolInput) -> BeforeToolOutput:
        return BeforeToolOutput(decision="deny", reason=f"no {event.tool_input['city']}")

    fake.expect(calls("weather", {"city": "Oslo"}), says("ok"))
    await make_agent(hooks=[guard], tools=[weather]).send("hi")
    assert response_of(fake) == {"error": "Tool execution blocked: no Oslo"}


async def test_before_tool_puts_it_to_the_person_and_notification_hears(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    heard: list[str] = []

    @hook("BeforeTool")
    def ask(event: BeforeToolInput) -> BeforeToolOutput:
        return BeforeToolOutput(decision="ask", reason="Really Oslo?")

    @hook("Notification")
    def listen(event: NotificationInput) -> NotificationOutput:
        heard.append(f"{event.notification_type}: {event.message}")
        return NotificationOutput(system_message="The person is asked.")

    fake.expect(calls("weather", {"city": "Oslo"}), says("ok"))
    session = make_agent(hooks=[ask, listen], tools=[weather], interactive=True).session()
    events = []
    async for event in session.send_stream("hi"):
        events.append(event)
        if isinstance(event, Ask):
            assert event.question.text == "Really Oslo?"
            session.answer(event.question.id, True)
    assert response_of(fake) == {"output": "Oslo: 21 C"}
    assert heard == ["ToolPermission: Really Oslo?"]
    assert Notice("The person is asked.", "Notification") in events


async def test_after_tool_adds_context(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    @hook("AfterTool", matcher="write_file", name="reformat")
    async def reformat(event: AfterToolInput, context: SessionContext) -> AfterToolOutput | None:
        path = event.tool_input["file_path"]
        if not path.endswith(".ts"):
            return None
        await context.fs.write(path, (await context.fs.read(path) or "").strip() + "\n")
        return AfterToolOutput(additional_context=f"Reformatted file {path}, read again before modifying further.")

    fake.expect(calls("write_file", {"file_path": "a.ts", "content": "  let a  "}), says("ok"))
    await make_agent(hooks=[reformat], builtin_tools=["write_file"]).send("hi")
    assert "Reformatted file a.ts, read again before modifying further." in json.dumps(fake.last["contents"][-1])
    assert "<hook_context>" in json.dumps(fake.last["contents"][-1])
    assert (project / "a.ts").read_text() == "let a\n"


async def test_after_tool_hides_the_result(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterTool")
    def hide(event: AfterToolInput) -> AfterToolOutput:
        return AfterToolOutput(decision="deny", reason="too secret")

    fake.expect(calls("weather", {"city": "Oslo"}), says("ok"))
    await make_agent(hooks=[hide], tools=[weather]).send("hi")
    assert response_of(fake) == {"error": "Tool result blocked: too secret"}
    answered = fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]
    assert "21" not in json.dumps(answered)


async def test_after_tool_runs_another_in_its_place(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterTool")
    def elsewhere(event: AfterToolInput) -> AfterToolOutput | None:
        if event.tool_input["city"] == "Rome":
            return None
        return AfterToolOutput(tail_tool_call={"name": "weather", "args": {"city": "Rome"}})

    fake.expect(calls("weather", {"city": "Oslo"}, call_id="c1"), says("ok"))
    await make_agent(hooks=[elsewhere], tools=[weather]).send("hi")
    assert response_of(fake) == {"output": "Rome: 21 C"}
    assert fake.last["contents"][-1]["parts"][0]["functionResponse"]["id"] == "c1"


async def test_pre_compress_hears_of_it(make_agent: MakeAgent, fake: FakeGemini) -> None:
    heard: list[str] = []

    @hook("PreCompress", "manual")
    def listen(event: PreCompressInput) -> PreCompressOutput:
        heard.append(event.trigger)
        return PreCompressOutput(system_message="Shortening.")

    fake.expect(
        *(says(f"answer {number} " * 200) for number in range(4)), says("<state_snapshot>short</state_snapshot>")
    )
    session = make_agent(hooks=[listen]).session()
    for number in range(4):
        await session.send(f"question {number}")
    await session.compress()
    assert heard == ["manual"]


# Global halts.


async def halted(make_agent: MakeAgent, *hooks: Any) -> tuple[Any, list[Any]]:
    session = make_agent(hooks=hooks, tools=[weather]).session()
    events = await collect(session.send_stream("hi"))
    assert isinstance(events[-1], Finish)
    return session, events


async def test_before_agent_stops_and_keeps_the_prompt(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeAgent")
    def stop(event: BeforeAgentInput) -> BeforeAgentOutput:
        return BeforeAgentOutput(stop=True, stop_reason="The budget is used up.")

    session, events = await halted(make_agent, stop)
    assert (events[-1].reason, events[-1].detail) == ("stopped", "The budget is used up.")
    assert fake.requests == []
    assert session.transcript[-1]["parts"][0]["text"] == "hi"


async def test_before_agent_blocks_and_drops_the_prompt(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeAgent")
    def block(event: BeforeAgentInput) -> BeforeAgentOutput:
        return BeforeAgentOutput(decision="deny", reason="It holds a password.")

    session, events = await halted(make_agent, block)
    assert (events[-1].reason, events[-1].detail) == ("blocked", "It holds a password.")
    assert fake.requests == []
    assert "hi" not in [part.get("text") for content in session.transcript for part in content["parts"]]


async def test_before_model_stops(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("BeforeModel")
    def stop(event: BeforeModelInput) -> BeforeModelOutput:
        return BeforeModelOutput(stop=True, stop_reason="Enough.")

    _, events = await halted(make_agent, stop)
    assert (events[-1].reason, events[-1].detail) == ("stopped", "Enough.")
    assert fake.requests == []


async def test_after_model_stops(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterModel")
    def stop(event: AfterModelInput) -> AfterModelOutput:
        return AfterModelOutput(stop=True, stop_reason="Enough.")

    fake.expect(says("one", "two"))
    _, events = await halted(make_agent, stop)
    assert (events[-1].reason, events[-1].detail) == ("stopped", "Enough.")


@pytest.mark.parametrize("when", ["BeforeTool", "AfterTool"])
async def test_a_tool_hook_stops_the_turn_and_the_transcript_stays_whole(
    make_agent: MakeAgent, fake: FakeGemini, when: str
) -> None:
    @hook("BeforeTool")
    def before(event: BeforeToolInput) -> BeforeToolOutput | None:
        return BeforeToolOutput(stop=True, stop_reason="Enough.") if when == "BeforeTool" else None

    @hook("AfterTool")
    def after(event: AfterToolInput) -> AfterToolOutput | None:
        return AfterToolOutput(stop=True, stop_reason="Enough.") if when == "AfterTool" else None

    fake.expect(calls("weather", {"city": "Oslo"}, call_id="c1"), says("later"))
    session, events = await halted(make_agent, before, after)
    assert (events[-1].reason, events[-1].detail) == ("stopped", "Enough.")
    assert len(fake.requests) == 1
    assert session.transcript[-1]["parts"][0]["functionResponse"]["id"] == "c1"
    assert (await session.send("go on")).text == "later"


async def test_after_agent_stops(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterAgent")
    def stop(event: AfterAgentInput) -> AfterAgentOutput:
        return AfterAgentOutput(stop=True, stop_reason="Enough.")

    fake.expect(says("one"))
    _, events = await halted(make_agent, stop)
    assert events[-1].reason == "stopped"


# Command hooks of settings, and hostile ones.


async def test_a_command_hook_of_the_project_refuses(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    configure(project, "BeforeTool", "echo 'Not on Sundays.' >&2; exit 2", matcher="weather")
    fake.expect(calls("weather", {"city": "Oslo"}), says("ok"))
    await make_agent(tools=[weather]).send("hi")
    assert response_of(fake) == {"error": "Tool execution blocked: Not on Sundays."}


async def test_a_project_that_is_not_trusted_runs_no_hook(
    make_agent: MakeAgent, fake: FakeGemini, project: Path
) -> None:
    configure(project, "BeforeTool", "touch ran; exit 2")
    fake.expect(calls("weather", {"city": "Oslo"}), says("ok"))
    session = make_agent(tools=[weather], trusted=False).session()
    events = await collect(session.send_stream("hi"))
    assert response_of(fake) == {"output": "Oslo: 21 C"}
    assert not (project / "ran").exists()
    assert any(isinstance(event, Notice) and "is not trusted" in event.message for event in events)


@pytest.mark.parametrize("command", ["kill -9 $$", "sleep 1000", "exit 3", "no-such-command-here"])
async def test_a_hostile_guard_lets_no_tool_run(
    make_agent: MakeAgent, fake: FakeGemini, project: Path, command: str
) -> None:
    hooks = {"BeforeTool": [{"hooks": [{"type": "command", "command": command, "timeout": 200}]}]}
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    ran: list[str] = []

    @tool
    def act(what: str) -> str:
        """Acts."""
        ran.append(what)
        return "done"

    fake.expect(calls("act", {"what": "x"}), says("ok"))
    session = make_agent(tools=[act]).session()
    events = await collect(session.send_stream("hi"))
    assert ran == []
    assert response_of(fake)["error"].startswith("Tool execution blocked: ")
    assert [event.name for event in events if isinstance(event, ToolResponse)] == ["act"]
    assert events[-1] == Finish("stop", "ok")


async def test_a_broken_hook_elsewhere_is_told_and_the_turn_goes_on(make_agent: MakeAgent, fake: FakeGemini) -> None:
    @hook("AfterModel")
    def broken(event: AfterModelInput) -> None:
        raise ValueError("oops")

    fake.expect(says("fine"))
    session = make_agent(hooks=[broken]).session()
    events = await collect(session.send_stream("hi"))
    assert events[-1] == Finish("stop", "fine")
    assert Notice("Warning: hook 'broken' failed: ValueError: oops.", "AfterModel") in events
