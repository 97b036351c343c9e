"""The asks of one link that wait for a person: which hook waits for which answer, and what it is told."""

from __future__ import annotations

from collections.abc import Iterable

import anyio

from farhand.drivers.claude.asks import ClaudeQuestion, decision, digest, hook_reply, raised, steps
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import CHANGED, GONE, asked_of, picked_of, step_id
from farhand.drivers.wires.hooks.endpoint import HookAsk
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.ports import NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowSettled

COMES_BACK_SECONDS = 10.0
TAKES_SECONDS = 5.0


def _step(ask: str) -> int:
    """Which step of its question an ask is."""
    return int(ask.partition(".")[2] or 0)


class PendingHook:
    """One question of the agent and the hook that holds it open."""

    def __init__(self, question: ClaudeQuestion, asked: HookAsk, picked: tuple[PartAnswer, ...]) -> None:
        self.question = question
        self.asked = asked
        self.picked = picked
        # The agent's own dialog was seen open: its closing means something.
        self.shown = False
        self.answered = False


class ClaudeQuestions:
    """All open questions of a worker."""

    def __init__(self, deadline_seconds: float) -> None:
        self._deadline_seconds = deadline_seconds
        self._open: dict[str, PendingHook] = {}
        self._news = anyio.Event()

    def hold(self, asked: HookAsk, question: ClaudeQuestion, picked: tuple[PartAnswer, ...]) -> AskRaised:
        """Keeps a hook waiting; the ask that a person sees."""
        self._open[asked.arrived.id] = PendingHook(question, asked, picked)
        self._news.set()
        self._news = anyio.Event()
        return raised(asked.arrived.id, question, self._deadline_seconds, len(picked))

    async def settle(self, ask: Ask) -> tuple[Outcome, AskRaised | None]:
        """Brings a person's answer to the hook; or the next question of a questionnaire to the person."""
        name = asked_of(ask.id)
        pending = await self._found(name)
        if pending is None or ask.settled is None:
            return NotTaken(why=GONE), None
        if ask.digest != digest(pending.question):
            self._tell(name, pending, (PartAnswer(choice=""),))
            return NotTaken(why=CHANGED), None
        if _step(ask.id) < len(pending.picked):
            # The node died after it had noted the answer: it is no answer to the question that came next.
            return Taken(), None
        pending.picked = (*pending.picked, picked_of(ask.settled))
        if len(pending.picked) < steps(pending.question) and ask.settled.choice not in ("", "deny"):
            step = len(pending.picked)
            return Taken(), raised(name, pending.question, self._deadline_seconds, step)
        self._tell(name, pending, pending.picked)
        told = await pending.asked.taken(TAKES_SECONDS)
        return (Taken() if told else NotTaken(why=GONE)), None

    def _tell(self, name: str, pending: PendingHook, picked: tuple[PartAnswer, ...]) -> None:
        pending.answered = True
        self._open.pop(name, None)
        pending.asked.answer(hook_reply(decision(pending.question, picked)))

    async def _found(self, name: str) -> PendingHook | None:
        """After a restart of the node the hook comes back by itself, a moment later."""
        with anyio.move_on_after(COMES_BACK_SECONDS):
            while name not in self._open:
                await self._news.wait()
        return self._open.get(name)

    def __bool__(self) -> bool:
        return bool(self._open)

    def picked(self) -> dict[str, tuple[PartAnswer, ...]]:
        """The answers given so far, for the cursor."""
        return {name: pending.picked for name, pending in self._open.items() if pending.picked}

    def dialog(self, *, open_now: bool) -> list[AskSettled]:
        """The agent's dialog opened or closed; what was asked when it closed was answered at the desk."""
        if open_now:
            for pending in self._open.values():
                pending.shown = True
            return []
        return self._over(name for name, pending in self._open.items() if pending.shown)

    def ran(self, question: ClaudeQuestion) -> list[AskSettled]:
        """The tool has run: whoever allowed it, it was not the phone."""
        same = digest(question)
        return self._over(name for name, pending in self._open.items() if digest(pending.question) == same)

    def close(self) -> None:
        """The turn is over: nobody waits any more."""
        self._over(list(self._open))

    def lost(self, asked: HookAsk) -> list[AskSettled]:
        """The hook went away before it had an answer: the phone can no longer give one."""
        pending = self._open.get(asked.arrived.id)
        if pending is None or pending.asked is not asked:
            return []
        return self._over([asked.arrived.id], HowSettled.WITHDRAWN)

    def _over(self, names: Iterable[str], how: HowSettled = HowSettled.DESK) -> list[AskSettled]:
        settled = []
        for name in list(names):
            pending = self._open.pop(name)
            pending.asked.answer(None)
            settled.append(AskSettled(ask=step_id(name, len(pending.picked)), how=how))
        return settled
