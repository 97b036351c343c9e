"""An open link to one Gemini CLI in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.disk.watch import FolderWatcher
from farhand.drivers.gemini.asks import (
    PLAN,
    GeminiQuestion,
    call_of,
    digest_of,
    is_for_the_phone,
    is_sure,
    planned,
    question_of,
    raised,
    takes_advice,
)
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.schema import digest
from farhand.drivers.gemini.sessions import find_file
from farhand.drivers.gemini.tmux.hooks import silent, translate_hook
from farhand.drivers.gemini.tmux.keyboard import BEHIND, GeminiKeyboard
from farhand.drivers.gemini.tmux.open_calls import (
    GeminiPosition,
    allow,
    announced,
    asked,
    disallow,
    is_known,
    passed_by,
    put_back,
    ran,
    refuse,
    replaced_by,
    rested,
    sought,
    without,
    wondered,
)
from farhand.drivers.gemini.tmux.screen import Dialog, comes_next, read_box, read_dialog, standing, written
from farhand.drivers.gemini.tmux.session_file import GeminiCursor, behind, follow, passed, plan_of
from farhand.drivers.gemini.tmux.translate import GeminiState, began, end_turn, session_changed
from farhand.drivers.wires.asks.build import CHANGED, DENY, GONE
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport
from farhand.drivers.wires.text.prompt import worded
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxError, TmuxGone
from farhand.drivers.wires.tmux.link import LateFacts
from farhand.drivers.wires.tmux.typed_link import TypedLink
from farhand.model.facts import AskSettled, Noted, Queued, TurnEnded
from farhand.model.ports import Batch, Deliver, Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowEnded, HowSettled, Mode, replace

END_PATIENCE_SECONDS = 1.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
# So often the screen is looked at while a dialog may be there; after so many looks it is told to be a strange one.
PEEK_SECONDS = (0.1, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 5.0)
MOST_PEEKS = 6
# After so many looks without news, no call is expected to push itself before the one that is shown.
CALM_PEEKS = 4
# A model that cannot be had is told in a dialog that no hook and no title tells of: so often it is looked for.
LOOK_SECONDS = (1.5, 3.0, 6.0, 12.0, 30.0)
IDLE_PATIENCE_SECONDS = 3.0
MOST_ESCAPES = 4
MOST_TOLD = 64


class GeminiStatus(msgspec.Struct, frozen=True):
    """What the window's title says: idle, busy or waiting."""

    status: str


class GeminiTimeout(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    turn: str
    tries: int = 0


class ShownDialog(msgspec.Struct, frozen=True):
    """The dialog on the screen, or none, as it was between two answers of ours."""

    dialog: Dialog | None
    peeks: int
    answers: int


Own = GeminiStatus | GeminiTimeout | ShownDialog


class GeminiTmuxLink(TypedLink[Own]):
    """One worker's Gemini CLI. Only `facts` moves the place; errands leave it a note."""

    title = "Gemini CLI"
    shown_lines = 20
    _hands: GeminiKeyboard

    def __init__(
        self,
        tmux: Tmux,
        pane: Pane,
        places: GeminiPaths,
        place: GeminiPosition,
        folder: Path,
        ask_seconds: float | None,
    ) -> None:
        super().__init__(tmux, pane, folder)
        self._places = places
        self._place = place
        self._ask_seconds = ask_seconds
        self._hands = GeminiKeyboard(tmux, pane)
        self._standing = ""
        self._stopping = False
        self._cleared = False
        self._looks: int | None = None
        # What hooks told last.
        self._told: deque[str] = deque(maxlen=MOST_TOLD)
        # Asks whose answer is on its way to its dialog; set when there is none.
        self._answering: set[str] = set()
        self._answered = anyio.Event()
        self._answered.set()
        # How many answers have arrived, what the screen showed last, which of several calls was asked about last,
        # and whether it should be looked at now.
        self._answers = 0
        self._shown: Dialog | None = None
        self._front = ""
        self._curious = anyio.Event()

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._attend(tasks, folders)
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        tasks.start_soon(self._watch, folders, Path(self._place.spot.path).parent, name="session file")
        tasks.start_soon(self._hear_title, name="title")
        tasks.start_soon(self._hear_dialogs, name="dialogs")
        self._look_out()

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[HookArrival]) -> None:
        async for arrival in arrivals:
            if isinstance(arrival, HookAsk):
                # None of our hooks asks: what they report waits in the CLI's own dialog.
                arrival.answer(None)
            else:
                self._put(arrival)

    async def _hear_title(self) -> None:
        try:
            async with self._tmux.titled(self._pane, self._titled):
                await anyio.sleep_forever()
        except TmuxError:
            return  # its death is heard elsewhere

    async def _hear_dialogs(self) -> None:
        """Looks at the screen while a dialog may be there; what it shows stands in the line like all else."""
        peeks = 0
        try:
            while True:
                if not (self._standing == "waiting" or self._place.asks or self._place.unseen):
                    await self._curious.wait()
                with anyio.move_on_after(PEEK_SECONDS[min(peeks, len(PEEK_SECONDS) - 1)]):
                    await self._curious.wait()
                if self._curious.is_set():
                    self._curious, peeks = anyio.Event(), 0
                    await anyio.sleep(PEEK_SECONDS[0])
                answers = self._answers
                self._put(ShownDialog(read_dialog(await self._hands.screen()), peeks, answers))
                peeks += 1
        except TmuxError:
            return  # its death is heard elsewhere

    def _titled(self, title: str) -> None:
        status = standing(title)
        if status and status != self._standing:
            self._standing = status
            self._put(GeminiStatus(status))

    # --- facts

    def _position(self) -> object:
        return self._place

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._place))

    def _state(self) -> GeminiState:
        return self._place.spot.state

    def _note(self, state: GeminiState) -> None:
        self._move(replace(self._place.spot, state=state))

    def _turn(self) -> str | None:
        return self._place.spot.state.turn or None

    async def _happened(self, item: Own) -> list[Heard]:
        match item:
            case GeminiStatus():
                return self._stands(item)
            case ShownDialog():
                return await self._peeked(item)
            case GeminiTimeout():
                return await self._late(item)

    async def _concluded(self, heard: list[Heard]) -> list[Heard]:
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            # A refusal ends the turn: its answer is told to have arrived first.
            await self._answered.wait()
            self._stopping = False
            self._place = rested(self._place)
            heard = [*self._withdrawn(HowSettled.DESK), *heard]
        return heard

    def _over(self, item: Death | TmuxGone) -> list[Heard]:
        """The agent is gone, and the turn that ran with it."""
        ended, state = end_turn(self._place.spot.state, HowEnded.FAILED, "Gemini CLI ended in the middle of the turn.")
        self._note(state)
        return [*self._withdrawn(HowSettled.WITHDRAWN), *ended, self._went(item)]

    def _move(self, spot: GeminiCursor) -> None:
        if spot is not self._place.spot:
            self._place = replace(self._place, spot=spot)

    def _read(self) -> list[Heard]:
        """All that was added to the session file."""
        self._unread = False
        spot = self._place.spot
        if not Path(spot.path).is_file():
            # Not written yet, or under another minute's name.
            found = find_file(spot.state.session, self._places.kept)
            if found is None:
                return []
            spot = replace(spot, path=str(found))
        heard, spot = follow(spot, time.time())
        self._move(spot)
        return heard

    async def _reported(self, arrived: HookReport) -> list[Heard]:
        payload = parse(arrived.payload) or Fields({})
        if not self._is_ours(payload) or self._is_known(payload):
            return []
        heard = self._started(payload) or self._moved(payload)
        state = self._place.spot.state
        if payload.text("hook_event_name") == "AfterAgent" and silent(payload, state):
            self._after(END_PATIENCE_SECONDS, GeminiTimeout("end", state.turn))
        told, state = translate_hook(arrived.payload, state)
        self._note(state)
        match payload.text("hook_event_name"):
            case "BeforeAgent":
                self._look_out()
            case "BeforeTool":
                self._place = announced(self._place, call_of(payload))
            case "AfterTool":
                self._look_out()
                told = [*self._ran(payload), *told]
            case "Notification" if payload.text("notification_type") == "ToolPermission":
                self._asks(arrived.id, question_of(payload, self._place.calls))
            case "SessionEnd":
                self._cleared = True
            case _:
                pass
        return heard + told

    def _is_ours(self, payload: Fields) -> bool:
        """Another Gemini CLI that the agent itself started has a session of its own, and began by itself."""
        if payload.text("session_id") == self._place.spot.state.session:
            return True
        return self._cleared and payload.text("hook_event_name") == "SessionStart"

    def _is_known(self, payload: Fields) -> bool:
        """Hooks that the person wrote may tell of the same event: what they are given says the moment, so it is it."""
        told = digest(payload.text("hook_event_name"), payload.plain)
        known = told in self._told
        self._told.append(told)
        return known

    def _started(self, payload: Fields) -> list[Heard]:
        """The session has a file, or (cleared, or another one taken up at the desk) goes on in another one."""
        spot, path = self._place.spot, payload.text("transcript_path")
        if payload.text("hook_event_name") != "SessionStart" or not path:
            return []
        self._cleared = False
        heard, state = session_changed(payload.text("session_id"), spot.state)
        real = str(Path(path).resolve())
        if heard and payload.text("source") == "resume":
            # An old one, taken up at the desk: its past is not told.
            self._move(passed(GeminiCursor(path=real, state=state)))
        elif heard:
            self._move(GeminiCursor(path=real, state=state))
        return heard

    def _moved(self, payload: Fields) -> list[Heard]:
        """The session goes on in another file.

        One that is taken up in a later minute begins a file and leaves it empty, to go on in its old one: what the
        first hook says holds only where there is no other."""
        spot, path = self._place.spot, Path(payload.text("transcript_path") or ".").resolve()
        begins = payload.text("hook_event_name") == "SessionStart" and Path(spot.path).is_file()
        if begins or str(path) == spot.path or not path.is_file():
            return []
        self._move(behind(str(path), spot))
        return self._read()

    # --- asks

    def _asks(self, name: str, question: GeminiQuestion) -> None:
        """The CLI is about to open a dialog, or to let it wait behind another: it is asked about when it is seen."""
        # The window's title tells of one that only the desk can answer.
        if is_for_the_phone(question):
            self._place = wondered(self._place, name, question)
        self._curious.set()

    async def _peeked(self, shown: ShownDialog) -> list[Heard]:
        """Asks what the dialog on the screen asks, if that was announced and not asked yet."""
        if shown.answers != self._answers or self._answering:
            # An answer of ours has arrived since, or is on its way: the dialog is about to go.
            return []
        dialog, before = shown.dialog, self._shown
        self._shown = dialog
        if dialog is None or before is None or dialog.counter != before.counter:
            self._told_of_dialog = False
        if dialog is None:
            self._front = ""
            return []
        over = self._withdrawn(HowSettled.DESK, passed_by(self._place, dialog))
        if is_known(self._place, dialog):
            return over
        calm = dialog == before and shown.peeks >= CALM_PEEKS
        if not calm and not comes_next(dialog.counter, self._front):
            # Of those that wait the first is shown: one whose hook is slow would push itself before this one.
            return over
        found = sought(self._place, dialog)
        return [*over, *(self._stuck(shown, dialog) if found is None else await self._raised(*found, dialog))]

    async def _raised(self, name: str, question: GeminiQuestion, dialog: Dialog) -> list[Heard]:
        over = self._withdrawn(HowSettled.DESK, replaced_by(self._place, dialog))
        if question.kind == PLAN:
            plan = await anyio.to_thread.run_sync(plan_of, self._place.spot, question)
            question = planned(question, dialog, plan)
        self._place, self._front = asked(self._place, name, question), dialog.counter
        return [*over, Heard(fact=raised(name, question, self._ask_seconds, dialog), turn=self._turn())]

    def _ran(self, payload: Fields) -> list[Heard]:
        """A tool has run: whoever allowed it, its question is over, and another may be shown."""
        self._place, over = ran(self._place, call_of(payload))
        self._curious.set()
        return self._withdrawn(HowSettled.DESK, [over] if over else [])

    def _withdrawn(self, how: HowSettled, names: list[str] | None = None) -> list[Heard]:
        """These questions (or all) are over without an answer of ours; one that is on its way is none of them."""
        over = [name for name in (self._place.asks if names is None else names) if name not in self._answering]
        self._place = without(self._place, over)
        return [Heard(fact=AskSettled(ask=name, how=how)) for name in over]

    async def _settle(self, ask: Ask) -> Outcome:
        question = self._place.asks.get(ask.id)
        if question is None or ask.settled is None or ask.id in self._answering:
            return NotTaken(why=GONE)
        if not self._answering:
            self._answered = anyio.Event()
        self._answering.add(ask.id)
        try:
            outcome = await self._answer(ask, question, ask.settled)
            self._answers += 1
            # Only now: until its answer has arrived, the question must outlive a kill.
            behind = isinstance(outcome, NotTaken) and outcome.why == BEHIND
            self._place = put_back(self._place, ask.id) if behind else without(self._place, [ask.id])
            return outcome
        finally:
            self._answering.discard(ask.id)
            if not self._answering:
                self._answered.set()
            self._curious.set()
            self._kick()

    async def _answer(self, ask: Ask, question: GeminiQuestion, settled: AskSettled) -> Outcome:
        """Brings the answer to its dialog; what comes with it and the dialog does not take is the next message."""
        if ask.digest != digest_of(question):
            await self._hands.answer(question, DENY)
            return NotTaken(why=CHANGED)
        answered = settled.how is HowSettled.ANSWERED
        choice, note = (settled.choice or DENY, settled.note) if answered else (DENY, "")
        allows = choice != DENY and is_sure(question)
        if allows:
            # It may have run before its dialog is seen to be gone.
            self._place = allow(self._place, question.call)
        outcome = await self._hands.answer(question, choice, note)
        if allows and isinstance(outcome, NotTaken):
            self._place = disallow(self._place, question.call)
        if not allows and isinstance(outcome, Taken) and is_sure(question):
            self._place = refuse(self._place, question.call)
        if isinstance(outcome, Taken) and note and settled.by and not takes_advice(question):
            self._put(LateFacts((Queued(message=f"advice:{ask.id}", text=note, by=settled.by),)))
        return outcome

    def _stands(self, stands: GeminiStatus) -> list[Heard]:
        state = self._place.spot.state
        if stands.status == "waiting":
            self._curious.set()
            return []
        self._told_of_dialog = False
        # The dialog went, and not by our key: it was answered at the desk.
        if self._place.asks:
            self._after(0.2, GeminiTimeout("gone", state.turn))
        if stands.status == "idle" and state.running:
            self._after(IDLE_PATIENCE_SECONDS, GeminiTimeout("idle", state.turn))
        return []

    # --- what did not happen

    async def _late(self, later: GeminiTimeout) -> list[Heard]:
        if later.what == "gone":
            return await self._gone()
        if later.what == "model":
            return await self._looked_out()
        said = await self._looked(later)
        # Only now: whatever was waited for may have changed it.
        state = self._place.spot.state
        if said is None or not state.running or state.turn != later.turn:
            return []
        how = HowEnded.INTERRUPTED if self._stopping else HowEnded.COMPLETED
        ended, state = end_turn(state, how)
        self._note(state)
        return [*said, *ended]

    async def _looked(self, later: GeminiTimeout) -> list[Heard] | None:
        """What there is to say before a turn ends that nobody told the end of; None when it does not end."""
        state = self._place.spot.state
        if not state.running or state.turn != later.turn:
            return None
        match later.what:
            case "end":
                return []
            case "idle" if self._standing == "idle" and read_box(await self._hands.screen()) is not None:
                # No hook told of the end: it was killed, or there was none to tell.
                return []
            case "interrupt" if later.tries < MOST_ESCAPES:
                await self._hands.escape()
                self._after(INTERRUPT_PATIENCE_SECONDS, msgspec.structs.replace(later, tries=later.tries + 1))
                return None
            case "command" if not state.hooked and not state.written:
                return await self._read_off(await self._hands.screen())
            case _:
                return None

    def _look_out(self) -> None:
        """The model is asked now: from time to time it is looked whether it can be had."""
        looking, self._looks = self._looks is not None, 0
        if not looking:
            self._after(LOOK_SECONDS[0], GeminiTimeout("model", ""))

    async def _looked_out(self) -> list[Heard]:
        if not self._state().running or self._looks is None:
            self._looks = None
            return []
        await self._hands.give_up()
        self._looks = min(self._looks + 1, len(LOOK_SECONDS) - 1)
        self._after(LOOK_SECONDS[self._looks], GeminiTimeout("model", ""))
        return []

    async def _gone(self) -> list[Heard]:
        """Questions whose dialog is no longer on the screen were answered there."""
        if not self._place.asks or self._standing == "waiting" or read_dialog(await self._hands.screen()) is not None:
            return []
        return self._withdrawn(HowSettled.DESK)

    def _stuck(self, shown: ShownDialog, dialog: Dialog) -> list[Heard]:
        """A dialog that no hook asked about: only a person at the desk can close it, so tell one."""
        if self._standing != "waiting" or self._told_of_dialog or shown.peeks < MOST_PEEKS:
            return []
        self._told_of_dialog = True
        text = "Gemini CLI waits in a dialog: answer it at the desk, or pause the worker to refuse."
        return [Heard(fact=Noted(text=f"{text} {self._hands.where()}\n\n{written(dialog)}"))]

    # --- errands

    async def _deliver(self, errand: Deliver) -> Outcome:
        if errand.joins:
            return NotTaken(why="Gemini CLI takes a message when its turn is over.")
        return await super()._deliver(errand)

    def _free(self) -> bool:
        return False

    def _commanded(self, errand: Deliver) -> None:
        self._note(began(self._state(), errand.turn, worded(errand.message)))
        self._after(COMMAND_PATIENCE_SECONDS, GeminiTimeout("command", errand.turn))

    async def _stop(self) -> Outcome:
        self._stopping = True
        await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, GeminiTimeout("interrupt", self._place.spot.state.turn))
        return Taken()

    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        if mode is not None:
            if mode not in MANIFEST["modes"]:
                known = ", ".join(MANIFEST["modes"])
                return NotTaken(why=f"Gemini CLI has no mode '{mode}'. Known: {known}.")
            outcome = await self._hands.set_mode(Mode(mode))
            if not isinstance(outcome, Taken):
                return outcome
        return await self._hands.hand_over(f"/model set {model}") if model else Taken()
