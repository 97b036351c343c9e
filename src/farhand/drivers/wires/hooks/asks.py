"""Asks that come by a hook which waits: raised once, answered once, settled when the hook or its dialog is gone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol

import anyio

from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import CHANGED, DENY, GONE, part_answer, question_id, step_id
from farhand.drivers.wires.asks.settle import DriverQuestion
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookAnswer, HookAsk
from farhand.drivers.wires.tmux.queue import LateFacts
from farhand.model.facts import AskRaised, AskSettled, Noted
from farhand.model.ports import Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowSettled

RETURN_SECONDS = 10.0
TAKEN_SECONDS = 5.0
REFUSED_SECONDS = 2.0
MOST_UNPAIRED = 16
KILLED = "The question's hook was killed, so nothing was allowed. The dialog is still open at the desk: "
KILLED += "answer it there, or pause the worker to refuse."


@dataclass(frozen=True)
class Wording(Generic[DriverQuestion]):
    """How one CLI's questions are read, shown to a person, and answered. Pure functions."""

    question_of: Callable[[Fields], DriverQuestion]
    # Names exactly what will run: an answer holds for nothing else.
    digest: Callable[[DriverQuestion], str]
    # How many asks the question is made of.
    steps: Callable[[DriverQuestion], int]
    # The ask of that id at that step, with its deadline.
    raised: Callable[[str, DriverQuestion, float | None, int], AskRaised]
    # What the hook prints for these answers, one for each step.
    reply: Callable[[DriverQuestion, tuple[PartAnswer, ...]], HookAnswer]


class AskQueue(Protocol):
    """What is needed of a link's input queue."""

    def put(self, item: LateFacts, /) -> None: ...
    def start(self, task: Callable[[], Coroutine[object, object, None]], /) -> None: ...


class PendingAsk(Generic[DriverQuestion]):
    """One question of the agent, and the hook that holds it open."""

    def __init__(self, question: DriverQuestion, hook: HookAsk, answers: tuple[PartAnswer, ...]) -> None:
        self.question = question
        self.hook = hook
        # To the first steps of a questionnaire.
        self.answers = answers
        # The agent's own dialog was seen open: its closing means something.
        self.dialog_seen = False


class HookAsks(Generic[DriverQuestion]):
    """All open questions of one worker, each by the id of the hook that asks it."""

    def __init__(
        self, wording: Wording[DriverQuestion], deadline_seconds: float, queue: AskQueue, where: Callable[[], str]
    ) -> None:
        self._wording = wording
        self._deadline_seconds = deadline_seconds
        self._queue = queue
        self._where = where
        self._open: dict[str, PendingAsk[DriverQuestion]] = {}
        self._arrived = anyio.Event()
        # Hooks that ask, of which no other has asked the same so far.
        self._unpaired: deque[HookAsk] = deque(maxlen=MOST_UNPAIRED)
        # A dialog stands open that only the desk can close, and a person was told.
        self.dialog_noted = False
        # Somebody stops the turn: its questions go with it.
        self._stopping = False

    def __bool__(self) -> bool:
        return bool(self._open)

    # --- a hook asks

    def raise_ask(self, hook: HookAsk, *, answers: tuple[PartAnswer, ...] = (), turn: str | None = None) -> list[Heard]:
        """The ask that a person sees, while its hook waits; nothing when another hook has asked the same."""
        payload = parse(hook.report.payload)
        if payload is None or not payload.text("tool_name"):
            # Nobody can be asked about what nobody understands: the CLI's own dialog stays.
            hook.answer(None)
            return []
        if first := self._pair_of(hook, payload):
            self._queue.start(partial(self._answer_as, hook, first))
            return []
        self._stopping = False
        name, question = hook.report.id, self._wording.question_of(payload)
        self._open[name] = PendingAsk(question, hook, answers)
        arrived, self._arrived = self._arrived, anyio.Event()
        arrived.set()
        self._queue.start(partial(self._wait_for_end, hook))
        raised = self._wording.raised(name, question, self._deadline_seconds, len(answers))
        return [Heard(fact=raised, turn=turn)]

    def _pair_of(self, hook: HookAsk, payload: Fields) -> HookAsk | None:
        """The other hook of this very question: our own beside one that a person wrote, or the other way round."""
        for one in reversed(self._unpaired):
            other = parse(one.report.payload)
            if one.report.keyed != hook.report.keyed and other is not None and other.plain == payload.plain:
                self._unpaired.remove(one)
                return one
        self._unpaired.append(hook)
        return None

    async def _answer_as(self, hook: HookAsk, first: HookAsk) -> None:
        # One that is over has told the agent: what was answered then is never said to a later question.
        heard = not first.over and await first.closed()
        hook.answer(await first.wait() if heard else None)

    async def _wait_for_end(self, hook: HookAsk) -> None:
        if await hook.closed():
            return
        if not self._stopping:
            # Who refuses at the desk ends the hook a moment before the turn.
            await anyio.sleep(REFUSED_SECONDS)
        pending = self._open.get(hook.report.id)
        if pending is None or pending.hook is not hook:
            return
        # It went away before it had an answer: the phone can no longer give one.
        settled = self._settled([hook.report.id], HowSettled.WITHDRAWN)
        if self._stopping:
            self._queue.put(LateFacts(tuple(settled)))
            return
        self.dialog_noted = True
        self._queue.put(LateFacts((*settled, Noted(text=f"{KILLED} {self._where()}"))))

    def stopping(self) -> None:
        """Somebody stops the turn: that a question's hook goes now is no news."""
        self._stopping = True

    # --- a person answers

    async def settle(self, ask: Ask) -> Outcome:
        """Brings a person's answer to the hook; or the next question of a questionnaire to the person."""
        name = question_id(ask.id)
        pending = await self._returned(name)
        if pending is None or ask.settled is None:
            return NotTaken(why=GONE)
        if ask.digest != self._wording.digest(pending.question):
            self._reply(name, pending, (PartAnswer(choice=DENY),))
            return NotTaken(why=CHANGED)
        if _step(ask.id) < len(pending.answers):
            # The node died after it had noted the answer: it is no answer to the question that came next.
            return Taken()
        pending.answers = (*pending.answers, part_answer(ask.settled))
        step = len(pending.answers)
        if step < self._wording.steps(pending.question) and ask.settled.choice not in ("", DENY):
            following = self._wording.raised(name, pending.question, self._deadline_seconds, step)
            self._queue.put(LateFacts((following,)))
            return Taken()
        self._reply(name, pending, pending.answers)
        return Taken() if await pending.hook.taken(TAKEN_SECONDS) else NotTaken(why=GONE)

    async def _returned(self, name: str) -> PendingAsk[DriverQuestion] | None:
        """After a restart of the node the hook comes back by itself, a moment later."""
        with anyio.move_on_after(RETURN_SECONDS):
            while name not in self._open:
                await self._arrived.wait()
        return self._open.get(name)

    def _reply(self, name: str, pending: PendingAsk[DriverQuestion], answers: tuple[PartAnswer, ...]) -> None:
        self._open.pop(name, None)
        pending.hook.answer(self._wording.reply(pending.question, answers))

    def partial_answers(self) -> dict[str, tuple[PartAnswer, ...]]:
        """Answers to the first steps of questionnaires that are still open, for the cursor."""
        return {name: pending.answers for name, pending in self._open.items() if pending.answers}

    # --- somebody else does

    def dialog_opened(self) -> None:
        """The agent shows its own dialog as well."""
        for pending in self._open.values():
            pending.dialog_seen = True

    def dialog_closed(self) -> list[Heard]:
        """What was asked in the agent's own dialog when that closed was answered at the desk."""
        names = [name for name, pending in self._open.items() if pending.dialog_seen]
        return [Heard(fact=fact) for fact in self._settled(names, HowSettled.DESK)]

    def tool_ran(self, payload: Fields) -> list[Heard]:
        """The tool has run: whoever allowed it, it was not the phone."""
        ran = self._wording.digest(self._wording.question_of(payload))
        names = [name for name, pending in self._open.items() if self._wording.digest(pending.question) == ran]
        return [Heard(fact=fact) for fact in self._settled(names, HowSettled.DESK)]

    def close(self) -> None:
        """The turn is over: nobody waits any more."""
        self._settled(list(self._open), HowSettled.DESK)

    def _settled(self, names: Iterable[str], how: HowSettled) -> list[AskSettled]:
        settled = []
        for name in names:
            pending = self._open.pop(name)
            pending.hook.answer(None)
            settled.append(AskSettled(ask=step_id(name, len(pending.answers)), how=how))
        return settled


def _step(ask: str) -> int:
    """Which step of its question an ask is."""
    return int(ask.partition(".")[2] or 0)
