"""The run object: its events, its result, and that the session is free however it is left."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect, intact

from farhand.sdk import (
    Agent,
    FakeModel,
    Finish,
    Progressed,
    Retrying,
    SessionContext,
    SubagentEvent,
    Text,
    ToolRequest,
    subagent,
    tool,
)
from farhand.testing.models.gemini import FakeGemini, calls, refuses, says

pytestmark = pytest.mark.anyio


@tool
async def work(context: SessionContext) -> str:
    """Works."""
    await context.progress("half", 0.5)
    return "done"


async def test_a_run_has_events_and_a_result(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("work", {}, call_id="c1"), says("All done."))
    session = make_agent(tools=[work]).session()
    async with session.run("go") as run:
        events = await collect(run)
    assert Progressed("c1", "half", 0.5) in events
    result = run.result
    assert (result.text, result.reason, result.turns, result.session_id) == ("All done.", "stop", 2, session.id)
    assert [(call.name, call.content, call.error) for call in result.tool_calls] == [("work", "done", None)]
    assert [message["role"] for message in result.messages] == ["user", "model", "tool", "model"]
    assert result.usage.total_tokens == 220
    assert result.duration_seconds > 0
    assert session.history(1) == [{"role": "model", "text": "All done.", "parts": [{"text": "All done."}]}]
    assert session.history()[0]["text"] == "go"


async def test_a_retry_is_told_with_its_wait(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(refuses(429, "slow down", retry_after="0"), says("Here."))
    events = await collect(make_agent().session().run("go"))
    (retrying,) = [event for event in events if isinstance(event, Retrying)]
    assert (retrying.attempt, retrying.wait_seconds) == (1, 0.0)
    assert "slow down" in retrying.message


async def test_subagents_events_carry_their_ids(fake: FakeGemini, make_agent: MakeAgent) -> None:
    one = subagent(name="reviewer", description="Reviews.", instructions="Review.")
    fake.expect(
        calls("invoke_agent", {"agent_name": "reviewer", "prompt": "look"}, call_id="c1"), says("Fine."), says("Done.")
    )
    session = make_agent(subagents=[one]).session()
    events = [event for event in await collect(session.run("go")) if isinstance(event, SubagentEvent)]
    assert {(event.name, event.parent_id, event.call_id) for event in events} == {("reviewer", session.id, "c1")}
    assert [event.event for event in events if isinstance(event.event, Text)] == [Text("Fine.")]


async def test_a_run_is_steered_and_goes_on_with_what_was_queued(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("work", {}), says("Blue then."), says("And tests."))
    session = make_agent(tools=[work]).session()
    async with session.run("paint it") as run:
        async for event in run:
            if isinstance(event, ToolRequest):
                assert run.steer("in blue")
                assert run.queue("now write tests")
    said = [message["text"] for message in run.result.messages if message["role"] == "user"]
    assert said == ["paint it", "in blue", "now write tests"]
    assert fake.requests[1].body["contents"][-1]["parts"] == [{"text": "in blue"}]
    assert not run.steer("too late")
    assert run.result.text == "And tests."


def test_sending_without_an_event_loop(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(says("one"), says("two"))
    session = make_agent().session()
    assert [session.send_sync("a").text, session.send_sync("b").text] == ["one", "two"]


# Left at any event, in any way.


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    chunk = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}}
    return {"method": "generateContentStream", "response": [chunk]}


def script() -> list[Any]:
    call = {"functionCall": {"name": "work", "args": {}, "id": "c1"}}
    two: list[dict[str, Any]] = [{"functionCall": {"name": "work", "args": {}, "id": name}} for name in ("c2", "c3")]
    return [answer({"text": "Well. "}, call), answer(*two), answer({"text": "Done."}), answer({"text": "Next."})]


async def leave(way: str, run: Any, session: Any) -> None:
    match way:
        case "cancel":
            await run.cancel()
        case "interrupt":
            await session.interrupt()
        case "close":
            await session.close()
        case "raise":
            raise RuntimeError("left")
        case "cancelled":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)
        case _:
            pass


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at=st.integers(0, 12),
    way=st.sampled_from(["break", "cancel", "interrupt", "close", "raise", "cancelled", "forget"]),
    block=st.booleans(),
)
def test_left_at_any_event_the_session_is_free_and_its_transcript_whole(at: int, way: str, block: bool) -> None:
    async def scene() -> None:
        model = FakeModel(script())
        agent = Agent(model=model, tools=[work], builtin_tools=False, loads=False, records=False)
        session = agent.session()
        seen: list[Any] = []

        async def read() -> None:
            run = session.run("go")
            if block:
                async with run:
                    await follow(run)
            else:
                await follow(run)

        async def follow(run: Any) -> None:
            async for event in run:
                seen.append(event)
                if len(seen) > at:
                    await leave(way, run, session)
                    if way in ("break", "forget"):
                        break

        reading = asyncio.create_task(read())
        await asyncio.wait([reading])
        if not reading.cancelled():
            reading.exception()
        # Nobody holds the run any more, not even a traceback.
        del reading
        gc.collect()
        ended = await asyncio.wait_for(session.send("and now?"), 30)
        assert ended.reason == "stop"
        assert not session.busy
        assert intact(session.transcript)
        assert [task for task in asyncio.all_tasks() if task.get_name().startswith("turn of")] == []
        assert sum(isinstance(event, Finish) for event in seen) <= 1

    asyncio.run(scene())
