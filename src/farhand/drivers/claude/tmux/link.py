"""An open link to one Claude Code in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.disk.watch import FolderWatcher
from farhand.drivers.claude.asks import question_of
from farhand.drivers.claude.launch import COST, ClaudePaths
from farhand.drivers.claude.tmux.cost import priced
from farhand.drivers.claude.tmux.cursor import ClaudeCursor
from farhand.drivers.claude.tmux.hooks import stopped_without_transcript, translate_hook
from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.claude.tmux.pending import ClaudeQuestions
from farhand.drivers.claude.tmux.screen import read_box
from farhand.drivers.claude.tmux.state import began, end_turn, session_changed
from farhand.drivers.claude.tmux.status import ClaudeCost, ClaudeStatus, ClaudeTimeout, Own, read_cost, read_standing
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport
from farhand.drivers.wires.hooks.hook_link import HookedLink
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxError
from farhand.drivers.wires.tmux.link import LateFacts
from farhand.model.facts import Noted
from farhand.model.ports import Batch, Deliver, Heard, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowEnded, Mode, replace

STOP_PATIENCE_SECONDS = 3.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
DIALOG_PATIENCE_SECONDS = 1.0
IN_A_DIALOG = "Claude Code waits in a dialog: answer it at the desk, or pause the worker to close it."
MOST_ESCAPES = 4


class ClaudeTmuxLink(HookedLink[Own]):
    """One worker's Claude Code. Only `facts` moves the spot; errands leave it a note."""

    title = "Claude Code"
    _spot: ClaudeCursor
    _hands: ClaudeKeyboard
    _questions: ClaudeQuestions

    def __init__(
        self, tmux: Tmux, pane: Pane, places: ClaudePaths, spot: ClaudeCursor, questions: ClaudeQuestions, folder: Path
    ) -> None:
        super().__init__(tmux, pane, folder)
        self._hooks_of = pane.pid
        self._cost = folder / COST
        self._places = places
        self._spot = spot
        self._questions = questions
        self._hands = ClaudeKeyboard(tmux, pane)
        self._standing = ClaudeStatus()

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._attend(tasks, folders)
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        tasks.start_soon(self._watch, folders, Path(self._spot.path).parent, name="transcript")
        tasks.start_soon(self._hear_standing, folders, name="standing")
        tasks.start_soon(self._hear_cost, folders, name="cost")
        self._after(DIALOG_PATIENCE_SECONDS, ClaudeTimeout("start", ""))

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[HookArrival]) -> None:
        async for arrival in arrivals:
            arrived = arrival.arrived if isinstance(arrival, HookAsk) else arrival
            if arrived.keyed or arrived.agent == self._hooks_of:
                self._put(arrival)
            elif isinstance(arrival, HookAsk):
                # Another Claude Code that the agent started: its questions are its own.
                arrival.answer(None)

    async def _hear_standing(self, folders: FolderWatcher) -> None:
        file = self._places.status(self._pane.pid)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = ClaudeStatus()
        with folders.watched(file.parent) as change:
            while True:
                now = read_standing(file)
                if now != before and now.status:
                    before = now
                    self._put(now)
                await change.wait()

    async def _hear_cost(self, folders: FolderWatcher) -> None:
        before = ClaudeCost()
        with folders.watched(self._cost.parent) as change:
            while True:
                now = read_cost(self._cost)
                if now != before:
                    before = now
                    self._put(now)
                await change.wait()

    # --- facts

    def _batch(self, heard: list[Heard]) -> Batch:
        spot = replace(self._spot, picked=self._questions.picked())
        return Batch(heard=tuple(heard), cursor=write_cursor(spot))

    async def _happened(self, item: Own) -> list[Heard]:
        match item:
            case ClaudeStatus():
                return self._stands(item)
            case ClaudeTimeout():
                return await self._late(item)
            case ClaudeCost(payload=payload):
                told, state = priced(payload, self._spot.state)
                self._spot = replace(self._spot, state=state)
                return told

    def _translate(self, line: bytes, state: Any, at: float) -> tuple[list[Heard], Any]:
        return translate(line, state, at)

    def _turn(self) -> str | None:
        return self._spot.state.turn or None

    async def _reported(self, arrived: HookReport) -> list[Heard]:
        payload = parse(arrived.payload) or Fields({})
        heard, state = translate_hook(arrived.payload, self._spot.state, time.time())
        self._spot = replace(self._spot, state=state)
        self._moved(payload.text("transcript_path"), payload.text("session_id"))
        event = payload.text("hook_event_name")
        if event == "Stop" and state.running:
            self._after(STOP_PATIENCE_SECONDS, ClaudeTimeout("stop", state.prompt, arrived.payload))
        elif event == "PostToolUse":
            heard += [Heard(fact=fact) for fact in self._questions.ran(question_of(payload))]
        return heard

    def _moved(self, path: str, session: str) -> None:
        """The conversation was cleared: it goes on in another file of the same folder."""
        if path and path != self._spot.path and session == self._spot.state.session:
            self._spot = replace(self._spot, path=path, offset=0)

    def _raised(self, asked: HookAsk, payload: Fields) -> Heard:
        picked = self._spot.picked.get(asked.arrived.id, ())
        return Heard(fact=self._questions.hold(asked, question_of(payload), picked))

    def _stands(self, standing: ClaudeStatus) -> list[Heard]:
        before, self._standing = self._standing, standing
        self._told_of_dialog = self._told_of_dialog and standing.status == "waiting"
        heard: list[Heard] = []
        # A hook may have told of a new session before this file did: only a change in the file itself is news.
        if before.session and before.session != standing.session:
            heard, state = session_changed(standing.session, self._spot.state)
        if heard:
            self._spot = replace(self._spot, state=state, offset=0, path=self._sibling(standing.session))
        if standing.status == "waiting":
            self._questions.dialog(open_now=True)
            self._after(DIALOG_PATIENCE_SECONDS, ClaudeTimeout("dialog", self._spot.state.prompt))
        elif before.status == "waiting":
            heard += [Heard(fact=fact) for fact in self._questions.dialog(open_now=False)]
        return heard

    def _sibling(self, session: str) -> str:
        return str(Path(self._spot.path).with_name(f"{session}.jsonl"))

    # --- what did not happen

    async def _late(self, later: ClaudeTimeout) -> list[Heard]:
        state = self._spot.state
        if later.what in ("dialog", "start"):
            return await self._stuck(later.what)
        if not state.running or state.prompt != later.prompt:
            return []
        match later.what:
            case "stop":
                heard, state = stopped_without_transcript(later.payload, state)
            case "interrupt" if self._standing.status == "idle":
                heard, state = end_turn(state, state.prompt, HowEnded.INTERRUPTED)
            case "interrupt" if later.tries < MOST_ESCAPES:
                # A dialog that has just appeared hears no key: once more.
                await self._hands.escape()
                again = msgspec.structs.replace(later, tries=later.tries + 1)
                self._after(INTERRUPT_PATIENCE_SECONDS, again)
                return []
            case "command" if self._standing.status != "busy":
                said = await self._printed()
                ended, state = end_turn(state, state.prompt, HowEnded.COMPLETED)
                heard = said + ended
            case _:
                return []
        self._spot = replace(self._spot, state=state)
        return heard

    async def _stuck(self, what: str) -> list[Heard]:
        """A dialog that no hook asked about: only a person at the desk can close it, so tell one."""
        if self._questions or self._told_of_dialog or (what == "start" and self._spot.state.running):
            # A dialog of a turn may be drawn before its hook has asked; the session's status tells of it if none does.
            return []
        try:
            waits = self._standing.status == "waiting" if what == "dialog" else await self._hands.in_dialog()
            if not waits:
                return []
            self._told_of_dialog = True
            return [Heard(fact=Noted(text=f"{IN_A_DIALOG} {await self._hands.described()}"))]
        except TmuxError:
            # Whatever became of tmux, its end is told by itself.
            return []

    async def _printed(self) -> list[Heard]:
        """What a command shows in a panel; where there is none, its words come with the transcript."""
        screen = await self._hands.screen()
        return [] if read_box(screen) is not None else await self._read_off(screen)

    # --- errands

    async def _settle(self, ask: Ask) -> Outcome:
        outcome, following = await self._questions.settle(ask)
        if following is not None:
            self._put(LateFacts((following,)))
        return outcome

    def _free(self) -> bool:
        return self._standing.status != "waiting"

    def _commanded(self, errand: Deliver) -> None:
        prompt = f"command-{errand.message.id}"
        self._note(began(self._spot.state, errand.turn, prompt))
        self._after(COMMAND_PATIENCE_SECONDS, ClaudeTimeout("command", prompt))

    async def _stop(self) -> Outcome:
        await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, ClaudeTimeout("interrupt", self._spot.state.prompt))
        return Taken()

    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        if mode is not None:
            outcome = await self._hands.set_mode(Mode(mode))
            if not isinstance(outcome, Taken):
                return outcome
        return await self._hands.hand_over(f"/model {model}") if model else Taken()
