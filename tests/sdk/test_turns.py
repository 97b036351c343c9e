"""A turn can go wrong in many ways; each ends with a clear event and a transcript the model would accept."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import RawTool, collect, intact

from farhand.sdk import (
    Error,
    File,
    Finish,
    Image,
    ModelRefused,
    SessionBusy,
    SessionContext,
    StreamCut,
    Text,
    Thought,
    ToolRequest,
    ToolResponse,
    ToolResult,
    Usage,
    wire,
)
from farhand.sdk.errors import BadPrompt
from farhand.testing.models.gemini import FakeGemini, answers, calls, calls_all, chunk, cut, held, refuses, says

pytestmark = pytest.mark.anyio

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


async def test_thought_signatures_go_back_on_the_very_part_they_came_with(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    thinking = {"text": "**Look** first", "thought": True}
    call = {"functionCall": {"name": "look", "args": {}, "id": "c1"}, "thoughtSignature": "c2ln"}
    unknown = {"futurePart": {"kept": [1, 2]}}
    fake.expect(
        answers(chunk(thinking), chunk({"text": "I "}), chunk({"text": "look"}, call, unknown, finish="STOP")),
        says("done"),
    )
    session = make_agent(tools=[look]).session()
    events = await collect(session.send_stream("go"))
    sent = fake.last["contents"][-2]["parts"]
    assert sent == [thinking, {"text": "I look"}, call, unknown]
    assert Thought("first", "Look") in events


async def test_a_busy_server_is_asked_again(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(refuses(429, retry_after="0"), refuses(503, retry_after="0"), says("at last"))
    result = await make_agent().send("hi")
    assert result.text == "at last"
    assert len(fake.requests) == 3
    assert fake.requests[0].body == fake.requests[2].body


async def test_a_refusal_is_told_and_not_repeated(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(refuses(400, "the key is wrong"))
    session = make_agent().session()
    events = await collect(session.send_stream("hi"))
    assert [type(event) for event in events] == [Error, Finish]
    assert "400" in events[0].message
    assert "the key is wrong" in events[0].message
    assert not events[0].retryable
    assert events[-1].reason == "error"
    fake.expect(refuses(403, "no"))
    with pytest.raises(ModelRefused):
        await session.send("hi")


async def test_a_cut_stream_fails_clearly_and_the_turn_is_repeatable(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(cut("Half an ans"), says("A whole answer."))
    session = make_agent().session()
    events = await collect(session.send_stream("hi"))
    error = next(event for event in events if isinstance(event, Error))
    assert (error.kind, error.retryable, error.fatal) == ("stream_cut", True, True)
    assert session.transcript[-1] == wire.user("hi")
    result = await session.retry()
    assert result.text == "A whole answer."
    assert fake.requests[0].body["contents"] == fake.requests[1].body["contents"]
    assert [content["role"] for content in session.transcript] == ["user", "user", "model"]


async def test_a_cut_after_a_tool_keeps_the_tools_work(make_agent: MakeAgent, fake: FakeGemini) -> None:
    ran: list[int] = []

    def work() -> str:
        """Works."""
        ran.append(1)
        return "worked"

    fake.expect(calls("work", call_id="w1"), cut("so"), says("All done."))
    session = make_agent(tools=[work]).session()
    with pytest.raises(StreamCut):
        await session.send("work")
    assert intact(session.transcript)
    assert (await session.retry()).text == "All done."
    assert ran == [1]


async def test_interrupting_the_model_keeps_the_transcript_whole(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Well, ", "never said", before=1), says("hello again"))
    session = make_agent().session()
    events: list[Any] = []
    async for event in session.send_stream("talk"):
        events.append(event)
        if isinstance(event, Text):
            assert await session.interrupt()
    assert events[-1] == Finish("interrupted", "Well, ", "The person interrupted the turn.")
    assert session.transcript[-1] == wire.user("talk")
    gate.set()
    assert (await session.send("still there?")).text == "hello again"


async def test_interrupting_a_tool_answers_its_call(make_agent: MakeAgent, fake: FakeGemini) -> None:
    started = anyio.Event()

    async def hang(arguments: dict[str, Any]) -> ToolResult:
        started.set()
        await anyio.sleep_forever()
        return ToolResult()

    fake.expect(calls_all(("hang", {}, "h1"), ("hang", {}, "h2")), says("I stopped."))
    session = make_agent(tools=[RawTool(hang, "hang")]).session()

    async def stop() -> None:
        await started.wait()
        await session.interrupt()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        events = await collect(session.send_stream("go"))
    assert events[-1].reason == "interrupted"
    assert intact(session.transcript)
    await session.send("and now?")
    told = [response["response"]["error"] for response in wire.responses_of(fake.last["contents"][-2])]
    assert len(told) == 2
    assert "interrupted" in told[0]


async def test_leaving_the_stream_early_ends_the_turn(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "one", "two", before=1), says("next"))
    session = make_agent().session()
    stream = session.send_stream("go")
    async for event in stream:
        assert event == Text("one")
        break
    await stream.aclose()
    assert not session.busy
    gate.set()
    assert (await session.send("again")).text == "next"


async def test_a_second_prompt_is_refused_while_a_turn_runs(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "one", "two", before=1))
    session = make_agent().session()
    async for event in session.send_stream("go"):
        if event == Text("one"):
            with pytest.raises(SessionBusy):
                await session.send("me too")
            gate.set()
    assert not session.busy


async def test_an_empty_answer_is_an_error_that_may_be_repeated(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(answers(chunk(finish="STOP")), says("Better."))
    session = make_agent().session()
    events = await collect(session.send_stream("go"))
    assert events[0].kind == "model"
    assert events[0].retryable
    assert (await session.retry()).text == "Better."


async def test_the_limit_of_model_calls_ends_the_turn(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def again() -> str:
        """Again."""
        return "and again"

    fake.expect(*(calls("again") for _ in range(3)))
    session = make_agent(tools=[again], max_turns=3).session()
    result = await session.send("go")
    assert result.reason == "max_turns"
    assert intact(session.transcript)


async def test_images_and_files_go_into_the_prompt(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    (project / "dot.png").write_bytes(PIXEL)
    (project / "notes.txt").write_text("remember the milk")
    (project / "paper.pdf").write_bytes(b"%PDF-1.4 \xff")
    fake.expect(says("I see."))
    session = make_agent().session()
    await session.send(["What is this?", Image("dot.png"), File("notes.txt"), File("paper.pdf")])
    text, image, notes, paper = fake.last["contents"][-1]["parts"]
    assert text == {"text": "What is this?"}
    assert image["inlineData"]["mimeType"] == "image/png"
    assert "remember the milk" in notes["text"]
    assert paper["inlineData"]["mimeType"] == "application/pdf"


@pytest.mark.parametrize("prompt", ["", [], [Image("none.png")], Image(b"raw"), File("gone.txt"), 7])
async def test_a_prompt_that_cannot_be_sent_is_refused(make_agent: MakeAgent, fake: FakeGemini, prompt: Any) -> None:
    session = make_agent().session()
    with pytest.raises(BadPrompt):
        await session.send(prompt)
    assert session.transcript == []
    assert fake.requests == []


async def test_usage_of_every_call_is_added_up(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    fake.expect(calls("look"), says("done"))
    session = make_agent(tools=[look]).session()
    events = await collect(session.send_stream("go"))
    assert [event.total_tokens for event in events if isinstance(event, Usage)] == [110, 110]


async def test_events_come_in_order(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    fake.expect(calls("look", text="I look."), says("done"))
    events = await collect(make_agent(tools=[look]).session().send_stream("go"))
    assert [type(event) for event in events] == [Text, Usage, ToolRequest, ToolResponse, Text, Usage, Finish]


async def test_a_missing_key_is_told_before_anything_is_sent(make_agent: MakeAgent) -> None:
    session = make_agent(environ={"GEMINI_API_KEY": ""}).session()
    events = await collect(session.send_stream("hi"))
    assert "GEMINI_API_KEY" in events[0].message
    assert events[-1].reason == "error"


async def test_instructions_that_fail_are_told_and_the_turn_can_be_repeated(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    tries: list[int] = []

    def instructions(context: SessionContext) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise LookupError("no clock")
        return "Be brief."

    fake.expect(says("ok"))
    session = make_agent(instructions=instructions).session()
    events = await collect(session.send_stream("hi"))
    assert events[0].message == "The turn failed: LookupError: no clock"
    assert events[-1].reason == "error"
    assert (await session.retry()).text == "ok"


async def test_closing_a_session_ends_a_turn_nobody_reads(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "one", "two", before=1))
    with anyio.fail_after(240):
        async with make_agent().session() as session:
            stream = session.send_stream("go")
            assert await anext(stream) == Text("one")
    await stream.aclose()
    gate.set()
    assert not session.busy


async def test_settings_that_cannot_be_read_are_told(make_agent: MakeAgent, fake: FakeGemini, home: Path) -> None:
    (home / ".gemini").mkdir()
    broken = home / ".gemini" / "settings.json"
    broken.write_text('{"model": {')
    session = make_agent().session()
    events = await collect(session.send_stream("hi"))
    assert (events[0].kind, events[0].fatal) == ("settings", True)
    assert str(broken) in events[0].message
    broken.write_text("{}")
    fake.expect(says("ok"))
    assert (await session.send("hi")).text == "ok"


async def test_models_that_think_are_asked_for_their_thoughts(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("1"), says("2"), says("3"))
    await make_agent(generation={"temperature": 0}).send("hi")
    assert fake.last["generationConfig"] == {"thinkingConfig": {"includeThoughts": True}, "temperature": 0}
    await make_agent(generation={"thinkingConfig": {"thinkingBudget": 0}}).send("hi")
    assert fake.last["generationConfig"] == {"thinkingConfig": {"thinkingBudget": 0}}
    await make_agent(model="gemini-2.0-flash").send("hi")
    assert "generationConfig" not in fake.last


async def test_the_settings_may_lower_the_limit_of_model_calls(
    make_agent: MakeAgent, fake: FakeGemini, home: Path
) -> None:
    def again() -> str:
        """Again."""
        return "and again"

    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"model": {"maxSessionTurns": 2}}')
    fake.expect(calls("again"), calls("again"))
    assert (await make_agent(tools=[again]).send("go")).reason == "max_turns"


def test_a_stream_nobody_closed_ends_quietly_with_the_loop(make_agent: MakeAgent, fake: FakeGemini) -> None:
    complaints: list[dict[str, Any]] = []

    async def leave() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        stream = make_agent().session().send_stream("go")
        assert await anext(stream) == Text("one")
        streams.append(stream)

    streams: list[Any] = []
    fake.expect(says("one", "two"))
    asyncio.run(leave())
    assert complaints == []


async def test_interrupting_twice_is_interrupting_once(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Well, ", "never", before=1))
    session = make_agent().session()
    events: list[Any] = []
    async for event in session.send_stream("talk"):
        events.append(event)
        if isinstance(event, Text):
            assert await session.interrupt()
            # It is over when the first one comes back.
            assert not await session.interrupt()
    gate.set()
    assert [type(event) for event in events] == [Text, Finish]
    assert not await session.interrupt()


async def test_an_interrupt_after_the_end_changes_nothing(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("done"))
    session = make_agent().session()
    events: list[Any] = []
    async for event in session.send_stream("go"):
        events.append(event)
        if isinstance(event, Finish):
            await session.interrupt()
    assert [event.reason for event in events if isinstance(event, Finish)] == ["stop"]


async def test_compressing_by_hand_tells_the_next_reader(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("long " * 200), says("<state_snapshot>short</state_snapshot>"), says("on"))
    session = make_agent().session()
    await session.send("first")
    assert await session.compress()
    events = await collect(session.send_stream("next"))
    # What the summary took comes first, as that of every model call.
    assert (events[0].total_tokens, events[1].source) == (110, "compression")
    assert wire.text_of(fake.last["contents"][1]) == "<state_snapshot>short</state_snapshot>"


async def test_a_hundred_sessions_at_once_do_not_mix(make_agent: MakeAgent, fake: FakeGemini) -> None:
    async def look(number: int, context: SessionContext) -> str:
        """Looks."""
        await anyio.lowlevel.checkpoint()
        return f"{number} seen in {context.session_id}"

    for number in range(100):
        fake.expect(calls("look", {"number": number}), says(f"answer {number}"), prompt=f"question {number}.")
    agent = make_agent(tools=[look])
    async with agent:
        sessions = [agent.session() for _ in range(100)]
        asked = (session.send(f"question {number}.") for number, session in enumerate(sessions))
        results = await asyncio.gather(*asked)
    assert [result.text for result in results] == [f"answer {number}" for number in range(100)]
    for number, session in enumerate(sessions):
        assert f"{number} seen in {session.id}" in wire.compact(session.transcript)
    assert len({session.transcript_path for session in sessions}) == 100
