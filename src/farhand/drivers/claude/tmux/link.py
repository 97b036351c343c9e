"""What is Claude Code's own in tmux: its transcript, its hooks, its status file, its time-outs."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from farhand.drivers.claude.asks import ClaudeQuestion
from farhand.drivers.claude.tmux.hooks import stopped_without_transcript, translate_hook
from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.claude.tmux.screen import read_box, takes_escape
from farhand.drivers.claude.tmux.state import COMMAND_PROMPT, ClaudeCursor, began, end_turn, session_changed
from farhand.drivers.claude.tmux.status import ClaudeCost, ClaudeStatus, read_cost, read_status
from farhand.drivers.claude.tmux.translate import translate, translate_cost
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.tmux import TmuxError
from farhand.drivers.wires.tmux.interrupt import interrupt, interrupt_again
from farhand.drivers.wires.tmux.queue import InputQueue, Timeout
from farhand.drivers.wires.tmux.transcript import own_file, read_on
from farhand.model.facts import Noted
from farhand.model.ports import Change, Deliver, Heard, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowEnded, Mode

STOP_SECONDS = 3.0
COMMAND_SECONDS = 1.5
DIALOG_SECONDS = 1.0
BOX_SECONDS = 0.5
IN_A_DIALOG = "Claude Code waits in a dialog: answer it at the desk, or pause the worker to close it."

# What reaches a link of Claude Code alone.
ClaudeEvent: TypeAlias = ClaudeStatus | ClaudeCost


class ClaudeCli:
    """One worker's Claude Code."""

    title = "Claude Code"
    steers = True

    def __init__(
        self,
        queue: InputQueue[ClaudeEvent],
        keyboard: ClaudeKeyboard,
        asks: HookAsks[ClaudeQuestion],
        cursor: ClaudeCursor,
        pid: int,
        status_file: Path,
        cost_file: Path,
    ) -> None:
        self.keyboard = keyboard
        self.state = cursor.state
        self.hooks_pid = pid
        self._queue = queue
        self._asks = asks
        # The transcript that is followed, and how far; answers of a life of the node before this one.
        self._path, self._offset, self._answers = cursor.path, cursor.offset, cursor.picked
        self._status_file = status_file
        self._cost_file = cost_file
        # What was last put into the queue, and what was last taken from it.
        self._last_status, self._last_cost = ClaudeStatus(), ClaudeCost()
        self._status = ClaudeStatus()
        # The running turn is being stopped.
        self._stopping = False

    # --- state

    @property
    def cursor(self) -> ClaudeCursor:
        """How far the transcript was read, with the answers to open questionnaires."""
        answers = self._asks.partial_answers()
        return ClaudeCursor(path=self._path, offset=self._offset, state=self.state, picked=answers)

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self.state.running

    @property
    def confirms(self) -> bool:
        """A dialog in front of the box keeps it from reading."""
        return self._status.status != "waiting"

    # --- sources

    def start_sources(self) -> None:
        """Follows the transcript, the status file and what the status line is given."""
        self._queue.watch(Path(self._path).parent, self._queue.put_file_changed)
        self._queue.watch(self._status_file.parent, self._look_at_status)
        self._queue.watch(self._cost_file.parent, self._look_at_cost)
        self._queue.after(DIALOG_SECONDS, Timeout("start"))

    def _look_at_status(self) -> None:
        now = read_status(self._status_file)
        if now != self._last_status and now.status:
            self._last_status = now
            self._queue.put(now)

    def _look_at_cost(self) -> None:
        now = read_cost(self._cost_file)
        if now != self._last_cost:
            self._last_cost = now
            self._queue.put(now)

    # --- facts

    def read(self) -> list[Heard]:
        """All that was added to the transcript."""
        heard, self._offset, self.state = read_on(self._path, self._offset, self.state, translate, time.time())
        return heard

    async def on_report(self, report: HookReport) -> list[Heard]:
        """What a hook reports; the transcript may report the same, before or after."""
        payload = parse(report.payload) or Fields({})
        heard, self.state = translate_hook(report.payload, self.state, time.time())
        self._follow(payload.text("transcript_path"), payload.text("session_id"))
        event = payload.text("hook_event_name")
        if event == "Stop":
            self._queue.after(STOP_SECONDS, Timeout("stop", self._prompt_of(payload), report.payload))
        elif event == "PostToolUse":
            heard += self._asks.tool_ran(payload)
        return heard

    def _prompt_of(self, payload: Fields) -> str:
        """The prompt of the turn that a hook speaks of: several may have joined it, and one may not be known yet."""
        prompt = payload.text("prompt_id")
        return self.state.prompt if self.state.prompts.get(prompt) == self.state.turn else prompt

    def _follow(self, path: str, session: str) -> None:
        """The conversation was cleared: it goes on in another file of the same folder, or of one beside it."""
        if path == self._path or session != self.state.session or Path(path).name != f"{session}.jsonl":
            return
        if own_file(path, Path(self._path).parent.parent) is not None:
            self._path, self._offset = path, 0

    def on_ask(self, asked: HookAsk) -> list[Heard]:
        """Raises the ask, at the step that the cursor has answers up to."""
        return self._asks.raise_ask(asked, answers=self._answers.get(asked.report.id, ()))

    async def on_event(self, event: ClaudeEvent) -> list[Heard]:
        """Its status or its costs changed."""
        if isinstance(event, ClaudeStatus):
            return self._on_status(event)
        heard, self.state = translate_cost(event.payload, self.state)
        return heard

    def _on_status(self, status: ClaudeStatus) -> list[Heard]:
        before, self._status = self._status, status
        waiting = status.status == "waiting"
        self._asks.dialog_noted = self._asks.dialog_noted and waiting
        heard: list[Heard] = []
        # A hook may have reported a new session before this file did: only a change in the file itself is news.
        if before.session and before.session != status.session:
            heard, self.state = session_changed(status.session, self.state)
            if heard:
                self._path, self._offset = str(Path(self._path).with_name(f"{status.session}.jsonl")), 0
        if waiting:
            self._asks.dialog_opened()
            self._queue.after(DIALOG_SECONDS, Timeout("dialog"))
        elif before.status == "waiting":
            heard += self._asks.dialog_closed()
        return heard

    async def on_turn_ended(self) -> list[Heard]:
        """Whoever still asked in that turn waits no more; what was stopped is taken out of the box."""
        self._asks.close()
        if self._stopping:
            self._stopping = False
            try:
                await self.keyboard.take_back()
            except TmuxError:
                return []
            # A screen that is drawn late brings it back after this look.
            self._queue.after(BOX_SECONDS, Timeout("box"))
        return []

    def on_death(self) -> list[Heard]:
        """Nothing: the core ends the turn."""
        return []

    # --- what did not happen

    async def on_timeout(self, timeout: Timeout) -> list[Heard]:
        """Ends a turn whose end nobody reported; tells of a dialog that nobody asked about."""
        if timeout.what in ("dialog", "start"):
            return await self._note_dialog(timeout.what)
        if timeout.what == "box":
            await self._take_back_late()
            return []
        if not self._is_running(timeout):
            return []
        match timeout.what:
            case "stop":
                heard, self.state = stopped_without_transcript(timeout.payload, self.state)
                return heard
            case "interrupt" if read_status(self._status_file).status == "idle":
                return self._end(HowEnded.INTERRUPTED)
            case "interrupt":
                await interrupt_again(self.keyboard, self._queue, timeout, takes_escape)
                return []
            case "command" if self._status.status != "busy":
                printed = await self._printed()
                return [*printed, *self._end(HowEnded.COMPLETED)]
            case _:
                return []

    async def _take_back_late(self) -> None:
        if not self.running and not self.state.expected:
            with suppress(TmuxError):
                await self.keyboard.take_back()

    def _is_running(self, timeout: Timeout) -> bool:
        return self.running and self.state.prompt == timeout.turn

    def _end(self, how: HowEnded) -> list[Heard]:
        ended, self.state = end_turn(self.state, self.state.prompt, how)
        return ended

    async def _note_dialog(self, what: str) -> list[Heard]:
        """A dialog that no hook asked about: only a person at the desk can close it, so tell one."""
        if self._asks or self._asks.dialog_noted or (what == "start" and self.running):
            # A dialog of a turn may be drawn before its hook has asked; the session's status tells of it if none does.
            return []
        if self.state.prompt.startswith(COMMAND_PROMPT):
            # The panel of a command: it is read off the screen and closed.
            return []
        if self.keyboard.is_typing:
            # It may be the panel of a command that is not known to be taken yet.
            self._queue.after(DIALOG_SECONDS, Timeout(what))
            return []
        try:
            # A panel that was just closed is still in the status for a moment: the box is back on the screen.
            waiting = what != "dialog" or self._status.status == "waiting"
            if not waiting or not await self.keyboard.in_dialog(known=what == "dialog"):
                return []
            self._asks.dialog_noted = True
            return [Heard(fact=Noted(text=f"{IN_A_DIALOG} {await self.keyboard.described()}"))]
        except TmuxError:
            # Whatever became of tmux, its end is reported by itself.
            return []

    async def _printed(self) -> list[Heard]:
        """What a command shows in a panel; where there is none, its words come with the transcript."""
        screen = await self.keyboard.screen()
        if read_box(screen) is not None:
            return []
        return [Heard(fact=await self.keyboard.command_output(screen), turn=self.state.turn or None)]

    # --- errands

    def on_command(self, errand: Deliver) -> None:
        """Its turn runs until the transcript, or the time-out, ends it."""
        prompt = f"{COMMAND_PROMPT}{errand.message.id}"
        self.state = began(self.state, errand.turn, prompt)
        self._queue.after(COMMAND_SECONDS, Timeout("command", prompt))

    async def settle(self, ask: Ask) -> Outcome:
        """Answers the hook that asks."""
        return await self._asks.settle(ask)

    async def stop(self) -> Outcome:
        """Presses Escape, and looks later whether that helped."""
        self._asks.stopping()
        self._stopping = True
        return await interrupt(self.keyboard, self._queue, self.state.prompt)

    async def change(self, change: Change) -> Outcome:
        """Types the commands for the model and the effort; cycles to the mode when those are taken."""
        for name, value in (("model", change.model), ("effort", change.effort)):
            outcome = await self.keyboard.change(name, value) if value else Taken()
            if not isinstance(outcome, Taken):
                return outcome
        return await self.keyboard.set_mode(Mode(change.mode)) if change.mode is not None else Taken()
