"""The Gemini CLI's dialogs while an answer of ours is on its way; the screen is drawn by the test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, cast

import pytest

from farhand.drivers.gemini.asks import GeminiCall, GeminiQuestion, digest_of
from farhand.drivers.gemini.tmux.dialogs import GeminiDialogs, GeminiEvent
from farhand.drivers.gemini.tmux.keyboard import BEHIND, GeminiKeyboard
from farhand.drivers.gemini.tmux.open_calls import announced, asked, waiting
from farhand.drivers.gemini.tmux.state import GeminiOpenCalls
from farhand.drivers.wires.asks.build import DENY, GONE
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.facts import AskSettled
from farhand.model.ports import NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import AskId, HowSettled, Seq, WorkerName

pytestmark = pytest.mark.anyio
PLAN = GeminiCall(tool="exit_plan_mode", arguments={"plan_filename": "plan.md"})
QUESTION = GeminiQuestion(call=PLAN, kind="exit_plan_mode", details={})


class Keyboard:
    """Presses an answer; before its dialog is seen to be gone, the CLI goes on."""

    def __init__(self, meanwhile: Callable[[], Any], outcome: Outcome) -> None:
        self._meanwhile = meanwhile
        self._outcome = outcome

    async def answer(self, question: GeminiQuestion, choice: str, note: str = "") -> Outcome:
        """What it is told is the test's business."""
        self._meanwhile()
        return self._outcome


def refused(question: GeminiQuestion) -> Ask:
    settled = AskSettled(ask=AskId("one"), how=HowSettled.ANSWERED, choice=DENY, note="paint it twice")
    return Ask(
        id=AskId("one"),
        worker=WorkerName("ann"),
        turn=None,
        seq=Seq(1),
        question="Go ahead?",
        choices=(),
        digest=digest_of(question),
        settled=settled,
    )


async def left_after(outcome: Outcome, meanwhile: Callable[[GeminiDialogs], Any]) -> tuple[GeminiCall, ...]:
    """The calls that a dialog may be about once the plan was sent back."""
    queue = InputQueue[GeminiEvent]()
    with closing(queue):
        keyboard = Keyboard(lambda: meanwhile(dialogs), outcome)
        opened = asked(announced(GeminiOpenCalls(), PLAN), "one", QUESTION)
        dialogs = GeminiDialogs(queue, cast("GeminiKeyboard", keyboard), opened, None)
        assert await dialogs.settle(refused(QUESTION)) == outcome
        return waiting(dialogs.open)


async def test_a_plan_that_is_presented_again_at_once_is_known() -> None:
    def presents_it_again(dialogs: GeminiDialogs) -> None:
        dialogs.call_ran(PLAN)
        dialogs.announce_call(PLAN)

    assert await left_after(Taken(), presents_it_again) == (PLAN,)


async def test_a_refused_call_is_over_and_one_that_stands_behind_another_waits() -> None:
    assert await left_after(Taken(), lambda _: None) == ()
    assert await left_after(NotTaken(why=BEHIND), lambda _: None) == (PLAN,)


@pytest.mark.parametrize("why", [GONE, BEHIND])
async def test_a_call_that_was_allowed_at_the_desk_while_it_was_refused_is_over(why: str) -> None:
    assert await left_after(NotTaken(why=why), lambda dialogs: dialogs.call_ran(PLAN)) == ()


async def test_a_dialog_that_is_gone_is_about_nothing_any_more() -> None:
    assert await left_after(NotTaken(why=GONE), lambda _: None) == ()
