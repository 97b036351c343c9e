"""The Gemini CLI's dialogs: found on the screen, raised as asks, and answered by their keys."""

from __future__ import annotations

import anyio
import anyio.to_thread
import msgspec

from farhand.drivers.gemini.asks import (
    PLAN,
    GeminiCall,
    GeminiQuestion,
    digest_of,
    is_for_the_phone,
    is_sure,
    planned,
    takes_advice,
    to_ask,
)
from farhand.drivers.gemini.tmux.keyboard import BEHIND, GeminiKeyboard
from farhand.drivers.gemini.tmux.open_calls import (
    allow,
    announced,
    announced_question,
    asked,
    cleared,
    disallow,
    is_known,
    passed_by,
    put_back,
    question_in,
    ran,
    refuse,
    replaced_by,
    without,
)
from farhand.drivers.gemini.tmux.screen import Dialog, comes_next, read_dialog, written
from farhand.drivers.gemini.tmux.session_file import plan_of
from farhand.drivers.gemini.tmux.state import GeminiCursor, GeminiOpenCalls
from farhand.drivers.wires.asks.build import CHANGED, DENY, GONE
from farhand.drivers.wires.tmux import TmuxError
from farhand.drivers.wires.tmux.queue import InputQueue, LateFacts
from farhand.model.facts import AskSettled, Noted, Queued
from farhand.model.ports import Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowSettled

# How long to wait between looks at the screen while a dialog may be there.
LOOK_SECONDS = (0.1, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 5.0)
# After so many looks a dialog that no hook announced is told to be one for the desk.
MOST_LOOKS = 6
# After so many looks without news, no call is expected to push itself before the one that is shown.
CALM_LOOKS = 4
IN_A_DIALOG = "Gemini CLI waits in a dialog: answer it at the desk, or pause the worker to refuse."


class GeminiStatus(msgspec.Struct, frozen=True):
    """What the window's title says: idle, busy or waiting."""

    status: str


class ShownDialog(msgspec.Struct, frozen=True):
    """The dialog on the screen, or none, as it was between two answers of ours."""

    dialog: Dialog | None
    looks: int
    answers: int


# What reaches a link of the Gemini CLI alone.
GeminiEvent = GeminiStatus | ShownDialog


class GeminiDialogs:
    """The questions of one worker. Its hooks announce them; they are asked when their dialog is on the screen."""

    def __init__(
        self,
        queue: InputQueue[GeminiEvent],
        keyboard: GeminiKeyboard,
        open_calls: GeminiOpenCalls,
        ask_seconds: float | None,
    ) -> None:
        self.open = open_calls
        # Whether the window's title says that it waits for somebody.
        self.waiting = False
        self._queue = queue
        self._keyboard = keyboard
        self._ask_seconds = ask_seconds
        # Asks whose answer is on its way to its dialog; `_all_answered` is set when there is none.
        self._answering: set[str] = set()
        # Those of them whose call has run meanwhile, allowed by somebody else.
        self._ran: set[str] = set()
        self._all_answered = anyio.Event()
        self._all_answered.set()
        # How many answers have arrived.
        self._answers = 0
        # What the screen showed last, and which of several calls was asked about last.
        self._shown: Dialog | None = None
        self._front = ""
        self._look_now = anyio.Event()
        # A dialog stands open that only the desk can close, and a person was told.
        self._noted = False

    # --- looking

    def look(self) -> None:
        """A dialog may be there in a moment."""
        self._look_now.set()

    async def poll_screen(self) -> None:
        """Looks at the screen while a dialog may be there; what it shows goes through the queue like all else."""
        looks = 0
        try:
            while True:
                if not (self.waiting or self.open.asks or self.open.unseen):
                    await self._look_now.wait()
                with anyio.move_on_after(LOOK_SECONDS[min(looks, len(LOOK_SECONDS) - 1)]):
                    await self._look_now.wait()
                if self._look_now.is_set():
                    self._look_now, looks = anyio.Event(), 0
                    await anyio.sleep(LOOK_SECONDS[0])
                answers = self._answers
                self._queue.put(ShownDialog(read_dialog(await self._keyboard.screen()), looks, answers))
                looks += 1
        except TmuxError:
            return  # its death is reported by itself

    # --- what hooks announce

    def announce_call(self, call: GeminiCall) -> None:
        """A call is about to run, or to be asked about."""
        self.open = announced(self.open, call)

    def announce(self, name: str, question: GeminiQuestion) -> None:
        """The CLI is about to open a dialog, or to let it wait behind another: it is asked about when it is seen."""
        # The window's title tells of one that only the desk can answer.
        if is_for_the_phone(question):
            self.open = announced_question(self.open, name, question)
        self.look()

    def call_ran(self, call: GeminiCall) -> list[Heard]:
        """A tool has run: whoever allowed it, its question is over, and another may be shown."""
        self.open, over = ran(self.open, call)
        self._ran |= {over} & self._answering
        self.look()
        return self._withdraw(HowSettled.DESK, [over] if over else [])

    # --- what the screen shows

    async def on_shown(self, shown: ShownDialog, cursor: GeminiCursor) -> list[Heard]:
        """Asks what the dialog on the screen asks, if that was announced and not asked yet."""
        if shown.answers != self._answers or self._answering:
            # An answer of ours has arrived since, or is on its way: the dialog is about to go.
            return []
        dialog, before = shown.dialog, self._shown
        self._shown = dialog
        if dialog is None or before is None or dialog.counter != before.counter:
            self._noted = False
        if dialog is None:
            self._front = ""
            return []
        over = self._withdraw(HowSettled.DESK, passed_by(self.open, dialog))
        if is_known(self.open, dialog):
            return over
        calm = dialog == before and shown.looks >= CALM_LOOKS
        if not calm and not comes_next(dialog.counter, self._front):
            # Of those that wait the first is shown: one whose hook is slow would push itself before this one.
            return over
        found = question_in(self.open, dialog)
        return [*over, *(self._note(shown, dialog) if found is None else await self._raise(*found, dialog, cursor))]

    async def _raise(self, name: str, question: GeminiQuestion, dialog: Dialog, cursor: GeminiCursor) -> list[Heard]:
        over = self._withdraw(HowSettled.DESK, replaced_by(self.open, dialog))
        if question.kind == PLAN:
            plan = await anyio.to_thread.run_sync(plan_of, cursor, question)
            question = planned(question, dialog, plan)
        self.open, self._front = asked(self.open, name, question), dialog.counter
        ask = to_ask(name, question, self._ask_seconds, dialog)
        return [*over, Heard(fact=ask, turn=cursor.state.turn or None)]

    def _note(self, shown: ShownDialog, dialog: Dialog) -> list[Heard]:
        """A dialog that no hook asked about: only a person at the desk can close it, so tell one."""
        if not self.waiting or self._noted or shown.looks < MOST_LOOKS:
            return []
        self._noted = True
        return [Heard(fact=Noted(text=f"{IN_A_DIALOG} {self._keyboard.where()}\n\n{written(dialog)}"))]

    def status_changed(self) -> None:
        """The window's title says that it waits for nobody: a dialog that comes later is another one."""
        self._noted = False

    async def withdraw_gone(self) -> list[Heard]:
        """Questions whose dialog is no longer on the screen were answered there."""
        if not self.open.asks or self.waiting or read_dialog(await self._keyboard.screen()) is not None:
            return []
        return self.withdraw_all(HowSettled.DESK)

    # --- ends

    async def on_turn_ended(self) -> list[Heard]:
        """Nothing that the turn announced comes any more. A refusal ends it: its answer is told first."""
        await self._all_answered.wait()
        self.open = cleared(self.open)
        return self.withdraw_all(HowSettled.DESK)

    def withdraw_all(self, how: HowSettled) -> list[Heard]:
        """All questions are over without an answer of ours."""
        return self._withdraw(how, list(self.open.asks))

    def _withdraw(self, how: HowSettled, names: list[str]) -> list[Heard]:
        """These questions are over without an answer of ours; one whose answer is on its way is none of them."""
        over = [name for name in names if name not in self._answering]
        self.open = without(self.open, over)
        return [Heard(fact=AskSettled(ask=name, how=how)) for name in over]

    # --- a person answers

    async def settle(self, ask: Ask) -> Outcome:
        """Brings an answer to its dialog, once."""
        question = self.open.asks.get(ask.id)
        if question is None or ask.settled is None or ask.id in self._answering:
            return NotTaken(why=GONE)
        if not self._answering:
            self._all_answered = anyio.Event()
        self._answering.add(ask.id)
        try:
            outcome = await self._answer(ask, question, ask.settled)
            self._answers += 1
            # Only now: until its answer has arrived, the question must outlive a kill.
            behind = self._is_behind(ask, outcome)
            self.open = put_back(self.open, ask.id) if behind else without(self.open, [ask.id])
            return outcome
        finally:
            self._answering.discard(ask.id)
            self._ran.discard(ask.id)
            if not self._answering:
                self._all_answered.set()
            self.look()
            self._queue.put_file_changed()

    def _is_behind(self, ask: Ask, outcome: Outcome) -> bool:
        """Whether its dialog waits behind another one. A call that ran meanwhile has none any more."""
        return isinstance(outcome, NotTaken) and outcome.why == BEHIND and ask.id not in self._ran

    async def _answer(self, ask: Ask, question: GeminiQuestion, settled: AskSettled) -> Outcome:
        """Presses the answer's key; words that come with it and that the dialog does not take are the next message."""
        if ask.digest != digest_of(question):
            await self._keyboard.answer(question, DENY)
            return NotTaken(why=CHANGED)
        answered = settled.how is HowSettled.ANSWERED
        choice, note = (settled.choice or DENY, settled.note) if answered else (DENY, "")
        sure, call = is_sure(question), question.call
        allows = choice != DENY
        if sure:
            # Before the dialog is seen to be gone the call may be over, and the same be announced once more.
            self.open = allow(self.open, call) if allows else refuse(self.open, call)
        outcome = await self._keyboard.answer(question, choice, note)
        if sure and allows and isinstance(outcome, NotTaken):
            self.open = disallow(self.open, call)
        elif sure and self._is_behind(ask, outcome):
            self.open = announced(self.open, call)
        if isinstance(outcome, Taken) and note and settled.by and not takes_advice(question):
            self._queue.put(LateFacts((Queued(message=f"advice:{ask.id}", text=note, by=settled.by),)))
        return outcome
