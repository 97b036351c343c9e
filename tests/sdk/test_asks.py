"""Who decides whether a call may run: an approver, a person who reads along, an asker, or nobody."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect

from farhand.sdk import (
    Approval,
    Ask,
    Question,
    Reply,
    SessionContext,
    ToolCall,
    wire,
)
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says

pytestmark = pytest.mark.anyio


async def test_the_approver_decides(make_agent: MakeAgent, fake: FakeGemini) -> None:
    ran: list[str] = []

    class Careful:
        async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
            return Approval("allow") if call.name == "safe" else Approval("deny", "too risky")

    def safe() -> str:
        """Safe."""
        ran.append("safe")
        return "ok"

    def risky() -> str:
        """Risky."""
        ran.append("risky")
        return "ok"

    fake.expect(calls_all(("safe", {}, "s"), ("risky", {}, "r")), says("One ran."))
    session = make_agent(tools=[safe, risky], approver=Careful()).session()
    await session.send("go")
    assert ran == ["safe"]
    assert "too risky" in wire.compact(fake.last["contents"][-1])


@pytest.mark.parametrize(("answer", "runs"), [(True, True), (False, False)])
async def test_an_ask_waits_for_the_person(make_agent: MakeAgent, fake: FakeGemini, answer: bool, runs: bool) -> None:
    ran: list[int] = []

    class Asking:
        async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
            return Approval("ask", "Really?")

    def act() -> str:
        """Acts."""
        ran.append(1)
        return "acted"

    fake.expect(calls("act"), says("So be it."))
    session = make_agent(tools=[act], approver=Asking(), interactive=True).session()
    async for event in session.send_stream("go"):
        if isinstance(event, Ask):
            assert event.question.text == "Really?"
            assert session.answer(event.question.id, answer)
            assert not session.answer(event.question.id, not answer)
    assert bool(ran) is runs


async def test_nobody_to_ask_means_no(make_agent: MakeAgent, fake: FakeGemini) -> None:
    class Asking:
        async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
            return Approval("ask")

    def act() -> str:
        """Acts."""
        raise AssertionError("it ran")

    fake.expect(calls("act"), says("Fine."))
    session = make_agent(tools=[act], approver=Asking()).session()
    events = await collect(session.send_stream("go"))
    assert any(isinstance(event, Ask) for event in events)
    assert "nobody is there" in wire.compact(fake.last["contents"][-1])


async def test_an_asker_answers_in_place_of_the_reader(make_agent: MakeAgent, fake: FakeGemini) -> None:
    class Asker:
        async def ask(self, question: Question, context: SessionContext) -> Reply:
            return Reply(answered=True, text=f"{question.text} Blue.")

    async def colour(context: SessionContext) -> str:
        """Asks for a colour."""
        return (await context.ask(Question("q", "text", "Which colour?"))).text

    fake.expect(calls("colour"), says("Blue it is."))
    session = make_agent(tools=[colour], asker=Asker()).session()
    await session.send("go")
    assert "Which colour? Blue." in wire.compact(fake.last["contents"][-1])


@pytest.mark.parametrize(
    ("verdict", "runs"), [(True, True), ("allow", True), (False, False), ("deny", False), ("yes", False)]
)
async def test_an_approver_may_be_a_function(make_agent: MakeAgent, fake: FakeGemini, verdict: Any, runs: bool) -> None:
    ran: list[int] = []

    def act() -> str:
        """Acts."""
        ran.append(1)
        return "acted"

    fake.expect(calls("act"), says("So be it."))
    await make_agent(tools=[act], approver=lambda _call, _context: verdict).send("go")
    assert bool(ran) is runs


async def test_an_approver_that_fails_allows_nothing(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def broken(call: ToolCall, context: SessionContext) -> bool:
        raise LookupError("no rules")

    def act() -> str:
        """Acts."""
        raise AssertionError("it ran")

    fake.expect(calls("act"), says("So be it."))
    await make_agent(tools=[act], approver=broken).send("go")
    assert "the approver failed: LookupError: no rules" in wire.compact(fake.last["contents"][-1])


async def test_a_yes_runs_the_call_that_was_shown(make_agent: MakeAgent, fake: FakeGemini) -> None:
    ran: list[str] = []

    class Asking:
        async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
            return Approval("ask", "Really?")

    def act(what: str) -> str:
        """Acts."""
        ran.append(what)
        return "acted"

    session = make_agent(tools=[act], approver=Asking(), interactive=True).session()
    fake.expect(says("hi"))
    await session.send("hello")
    # The id that the second call would be given, and ids of an earlier message.
    foreseen = f"act_{session.id[:8]}_{len(session.transcript) + 1}_1"
    both = calls_all(("act", {"what": "good"}, foreseen), ("act", {"what": "evil"}, ""))
    fake.expect(both, calls_all(("act", {"what": "again"}, foreseen)), says("done"))
    asked: list[Question] = []
    async for event in session.send_stream("go"):
        if isinstance(event, Ask) and event.question.call is not None:
            asked.append(event.question)
            assert session.answer(event.question.id, event.question.call.arguments["what"] == "good")
    assert ran == ["good"]
    assert len({question.id for question in asked}) == 3
