"""Compression: near the window's end the older part of a conversation becomes a summary, and nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Budget, BudgetExceeded, Error, Notice, Price, Usage, wire
from farhand.sdk.compress import is_due, split_point, window_of
from farhand.sdk.protocols import Content
from farhand.testing.models.gemini import USAGE, FakeGemini, says

NEAR_THE_END = {**USAGE, "promptTokenCount": 600_000}


@pytest.mark.anyio
async def test_a_long_conversation_is_shortened_and_goes_on(make_agent: MakeAgent, fake: FakeGemini) -> None:
    old = "old " * 400
    fake.expect(
        says(old),
        says("second", usage=NEAR_THE_END),
        says("<state_snapshot>all that matters</state_snapshot>"),
        says("third"),
    )
    agent = make_agent()
    session = agent.session()
    await session.send("first prompt " + old)
    await session.send("second prompt")
    events = [event async for event in session.send_stream("third prompt")]
    assert any(isinstance(event, Notice) and event.source == "compression" for event in events)
    sent = fake.last["contents"]
    assert wire.text_of(sent[0]).startswith("<session_context>")
    assert wire.text_of(sent[1]) == "<state_snapshot>all that matters</state_snapshot>"
    assert wire.text_of(sent[-1]) == "third prompt"
    assert old not in wire.compact(fake.last)
    assert fake.requests[2].method == "generateContent"
    again = await agent.resume_session(session.id)
    fake.expect(says("fourth"))
    await again.send("fourth prompt")
    assert fake.last["contents"][1:-1] == session.transcript[1:]


@pytest.mark.anyio
async def test_a_failed_compression_leaves_all_as_it_was(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("one " * 300, usage=NEAR_THE_END), says(" "), says("two"))
    session = make_agent().session()
    await session.send("first")
    before = list(session.transcript)
    events = [event async for event in session.send_stream("second")]
    assert any(isinstance(event, Error) and event.kind == "compression" and not event.fatal for event in events)
    assert session.transcript[: len(before)] == before
    assert wire.text_of(session.transcript[-1]) == "two"


SUMMARY = "<state_snapshot>all that matters</state_snapshot>"
DOLLAR_A_CALL = {"gemini-2.5-flash": Price(input=10_000.0, output=0.0)}


@pytest.mark.anyio
async def test_a_summary_is_a_model_call_that_is_counted(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("old " * 400, usage=NEAR_THE_END), says(SUMMARY), says("second"))
    session = make_agent(prices=DOLLAR_A_CALL).session()
    await session.send("first")
    async with session.run("second", budget=Budget(turns=2, dollars=3)) as run:
        events = [event async for event in run]
    assert [event.total_tokens for event in events if isinstance(event, Usage)] == [110, 110]
    assert run.result.usage.total_tokens == 220
    assert run.result.dollars == pytest.approx(2.0)


@pytest.mark.anyio
async def test_a_budget_that_the_summary_spent_is_spent(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("old " * 400, usage=NEAR_THE_END), says(SUMMARY), says("second"))
    session = make_agent(prices=DOLLAR_A_CALL).session()
    await session.send("first")
    with pytest.raises(BudgetExceeded, match="1 dollars") as caught:
        async with session.run("second", budget=Budget(dollars=1)) as run:
            await run.wait()
    assert caught.value.spent.dollars == pytest.approx(1.0)
    assert len(fake.requests) == 2
    assert (await session.send("third")).text == "second"


@pytest.mark.anyio
async def test_a_compression_by_hand_counts_for_the_session(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("old " * 400), says(SUMMARY))
    agent = make_agent(prices=DOLLAR_A_CALL, budget=Budget(turns=2))
    session = agent.session()
    await session.send("first")
    assert await session.compress()
    with pytest.raises(BudgetExceeded, match="2 turns"):
        await session.compress()
    with pytest.raises(BudgetExceeded, match="2 turns"):
        await (await agent.resume_session(session.id)).send("second")
    assert len(fake.requests) == 2


def test_windows_are_known() -> None:
    assert is_due(524_288, "gemini-2.5-pro", 0.5)
    assert not is_due(524_287, "gemini-2.5-pro", 0.5)
    assert not is_due(10**9, "gemini-2.5-pro", 0)
    assert window_of("anthropic:claude-sonnet") == 200_000


def _call(number: int) -> list[Content]:
    part: dict[str, Any] = {"functionCall": {"name": "t", "args": {}, "id": str(number)}}
    answer: dict[str, Any] = {
        "functionResponse": {"name": "t", "id": str(number), "response": {"output": "x" * number}}
    }
    return [wire.model(part), wire.user(answer)]


@given(st.lists(st.one_of(st.text(max_size=40), st.integers(1, 40)), max_size=12))
@settings(deadline=None)
def test_no_call_is_parted_from_its_response(steps: list[str | int]) -> None:
    contents: list[Content] = []
    for step in steps:
        contents += [wire.user(step), wire.model("ok")] if isinstance(step, str) else _call(step)
    point = split_point(contents)
    assert 0 <= point <= len(contents)
    kept = contents[point:]
    asked = {call.id for content in kept for call in wire.calls_of(content)}
    answered = {response["id"] for content in kept for response in wire.responses_of(content)}
    assert asked == answered or point == 0
