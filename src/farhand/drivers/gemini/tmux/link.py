"""What is the Gemini CLI's own in tmux: its session file, its hooks, its window's title, and its time-outs."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import anyio

from farhand.drivers.gemini.asks import call_of, question_of
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.schema import digest
from farhand.drivers.gemini.sessions import find_file
from farhand.drivers.gemini.tmux.dialogs import GeminiDialogs, GeminiEvent, GeminiStatus, ShownDialog
from farhand.drivers.gemini.tmux.hooks import silent, translate_hook
from farhand.drivers.gemini.tmux.keyboard import GeminiKeyboard
from farhand.drivers.gemini.tmux.screen import is_at_work, read_box, status_of
from farhand.drivers.gemini.tmux.session_file import at_end, follow, moved_to
from farhand.drivers.gemini.tmux.state import (
    GeminiCursor,
    GeminiPosition,
    GeminiState,
    began,
    end_turn,
    position,
    session_changed,
)
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxError
from farhand.drivers.wires.tmux.interrupt import AGAIN_SECONDS, INTERRUPT, interrupt, interrupt_again
from farhand.drivers.wires.tmux.queue import InputQueue, Timeout
from farhand.drivers.wires.tmux.transcript import own_file
from farhand.model.ports import Change, Deliver, Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowEnded, HowSettled, Mode, replace

END_SECONDS = 1.0
COMMAND_SECONDS = 1.5
IDLE_SECONDS = 3.0
CLOSED_SECONDS = 0.2
# A model that cannot be had is told in a dialog that no hook and no title tells of: so often it is looked for.
MODEL_SECONDS = (1.5, 3.0, 6.0, 12.0, 30.0)
MOST_REPORTS = 64
SHOWN_LINES = 20


class GeminiCli:
    """One worker's Gemini CLI."""

    title = "Gemini CLI"
    steers = False
    # A prompt that was read is seen in the session file only later.
    confirms = False
    hooks_pid = None

    def __init__(
        self,
        queue: InputQueue[GeminiEvent],
        tmux: Tmux,
        pane: Pane,
        keyboard: GeminiKeyboard,
        dialogs: GeminiDialogs,
        cursor: GeminiCursor,
        places: GeminiPaths,
    ) -> None:
        self.keyboard = keyboard
        self._queue = queue
        self._tmux = tmux
        self._pane = pane
        self._dialogs = dialogs
        self._cursor = cursor
        self._places = places
        self._chats = places.kept / "tmp"
        self._status = ""
        self._stopping = False
        # The session has ended, and another may begin in the same process.
        self._cleared = False
        self._model_looks: int | None = None
        # The newest reports, by their digests.
        self._reported: deque[str] = deque(maxlen=MOST_REPORTS)

    # --- state

    @property
    def cursor(self) -> GeminiPosition:
        """Where it stands in the session file, and which calls are open."""
        return position(self._cursor, self._dialogs.open)

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self.state.running

    @property
    def state(self) -> GeminiState:
        """What the translation of the session file remembers; part of the cursor in that file."""
        return self._cursor.state

    @state.setter
    def state(self, state: GeminiState) -> None:
        self._cursor = replace(self._cursor, state=state)

    # --- sources

    def start_sources(self) -> None:
        """Follows the session file, the window's title and the screen."""
        self._queue.watch(Path(self._cursor.path).parent, self._queue.put_file_changed)
        self._queue.start(self._follow_title)
        self._queue.start(self._dialogs.poll_screen)
        self._look_for_model()

    async def _follow_title(self) -> None:
        try:
            async with self._tmux.titled(self._pane, self._on_title):
                await anyio.sleep_forever()
        except TmuxError:
            return  # its death is reported by itself

    def _on_title(self, title: str) -> None:
        status = status_of(title)
        if status and status != self._status:
            self._status = status
            self._dialogs.waiting = status == "waiting"
            self._queue.put(GeminiStatus(status))

    # --- facts

    def read(self) -> list[Heard]:
        """All that was added to the session file."""
        cursor = self._cursor
        if not Path(cursor.path).is_file():
            # Not written yet, or under another minute's name.
            found = find_file(cursor.state.session, self._places.kept)
            if found is None:
                return []
            cursor = replace(cursor, path=str(found))
        heard, self._cursor = follow(cursor, time.time())
        return heard

    async def on_report(self, report: HookReport) -> list[Heard]:
        """What a hook reports; the session file may report the same, before or after."""
        payload = parse(report.payload) or Fields({})
        if not self._is_ours(payload) or self._is_repeated(payload):
            return []
        moved = self._on_session_start(payload) or self._on_other_file(payload)
        if payload.text("hook_event_name") == "AfterAgent" and silent(payload, self.state):
            self._queue.after(END_SECONDS, Timeout("end", self.state.turn))
        heard, self.state = translate_hook(report.payload, self.state)
        match payload.text("hook_event_name"):
            case "BeforeAgent":
                self._look_for_model()
            case "BeforeTool":
                self._dialogs.announce_call(call_of(payload))
            case "AfterTool":
                self._look_for_model()
                heard = [*self._dialogs.call_ran(call_of(payload)), *heard]
            case "Notification" if payload.text("notification_type") == "ToolPermission":
                self._dialogs.announce(report.id, question_of(payload, self._dialogs.open.calls))
            case "SessionEnd":
                self._cleared = True
            case _:
                pass
        return moved + heard

    def _is_ours(self, payload: Fields) -> bool:
        """Another Gemini CLI that the agent itself started has a session of its own, and began by itself."""
        if payload.text("session_id") == self.state.session:
            return True
        return self._cleared and payload.text("hook_event_name") == "SessionStart"

    def _is_repeated(self, payload: Fields) -> bool:
        """Hooks that the person wrote may report the same event: payloads carry their time, so the same is the same."""
        report = digest(payload.text("hook_event_name"), payload.plain)
        known = report in self._reported
        self._reported.append(report)
        return known

    def _on_session_start(self, payload: Fields) -> list[Heard]:
        """The session has a file, or (cleared, or another one taken up at the desk) goes on in another one."""
        path = own_file(payload.text("transcript_path"), self._chats)
        if payload.text("hook_event_name") != "SessionStart" or path is None:
            return []
        self._cleared = False
        heard, state = session_changed(payload.text("session_id"), self.state)
        if heard:
            fresh = GeminiCursor(path=str(path), state=state)
            # An old one, taken up at the desk: its past is not told.
            self._cursor = at_end(fresh) if payload.text("source") == "resume" else fresh
        return heard

    def _on_other_file(self, payload: Fields) -> list[Heard]:
        """The session goes on in another file.

        One that is taken up in a later minute begins a file and leaves it empty, to go on in its old one: what the
        first hook says holds only where there is no other."""
        cursor, path = self._cursor, own_file(payload.text("transcript_path"), self._chats)
        begins = payload.text("hook_event_name") == "SessionStart" and Path(cursor.path).is_file()
        if begins or path is None or str(path) == cursor.path or not path.is_file():
            return []
        self._cursor = moved_to(str(path), cursor)
        return self.read()

    def on_ask(self, asked: HookAsk) -> list[Heard]:
        """None of our hooks asks: what they report waits in the CLI's own dialog."""
        asked.answer(None)
        return []

    async def on_event(self, event: GeminiEvent) -> list[Heard]:
        """The title or the screen changed."""
        if isinstance(event, ShownDialog):
            return await self._dialogs.on_shown(event, self._cursor)
        if event.status == "waiting":
            self._dialogs.look()
            return []
        self._dialogs.status_changed()
        if self._dialogs.open.asks:
            # The dialog went, and not by our key: it was answered at the desk.
            self._queue.after(CLOSED_SECONDS, Timeout("closed", self.state.turn))
        if event.status == "idle" and self.running:
            self._queue.after(IDLE_SECONDS, Timeout("idle", self.state.turn))
        return []

    async def on_turn_ended(self) -> list[Heard]:
        """Its questions end with it."""
        over = await self._dialogs.on_turn_ended()
        self._stopping = False
        return over

    def on_death(self) -> list[Heard]:
        """The agent is gone, and the turn that ran with it."""
        ended, self.state = end_turn(self.state, HowEnded.FAILED, "Gemini CLI ended in the middle of the turn.")
        return [*self._dialogs.withdraw_all(HowSettled.WITHDRAWN), *ended]

    # --- what did not happen

    async def on_timeout(self, timeout: Timeout) -> list[Heard]:
        """Ends a turn whose end nobody reported; gives a model up that cannot be had."""
        if timeout.what == "closed":
            return await self._dialogs.withdraw_gone()
        if timeout.what == "model":
            return await self._on_model_look()
        if timeout.what == INTERRUPT:
            await self._stop_again(timeout)
            return []
        printed = await self._before_end(timeout)
        # Only now: whatever was waited for may have changed it.
        if printed is None or not self._is_running(timeout):
            return []
        how = HowEnded.INTERRUPTED if self._stopping else HowEnded.COMPLETED
        ended, self.state = end_turn(self.state, how)
        return [*printed, *ended]

    async def _stop_again(self, timeout: Timeout) -> None:
        """A turn that was stopped before it had begun loses the first Escape: it is waited for."""
        if self._is_running(timeout):
            await interrupt_again(self.keyboard, self._queue, timeout, lambda _: True)
        elif self._is_expected(timeout.turn):
            self._queue.after(AGAIN_SECONDS, timeout)

    def _is_expected(self, turn: str) -> bool:
        """Whether the message of that turn was typed, and nobody has reported yet that it was read."""
        return any(one.turn == turn for one in self.state.expected)

    def _is_running(self, timeout: Timeout) -> bool:
        return self.running and self.state.turn == timeout.turn

    async def _before_end(self, timeout: Timeout) -> list[Heard] | None:
        """What there is to say before a turn ends whose end nobody reported; None when it does not end."""
        if not self._is_running(timeout):
            return None
        match timeout.what:
            case "end":
                return []
            case "idle" if self._status == "idle" and read_box(await self.keyboard.screen()) is not None:
                # No hook told of the end: it was killed, or there was none to tell.
                return []
            case "command" if not self.state.hooked and not self.state.written:
                screen = await self.keyboard.screen()
                if is_at_work(screen):
                    # It is for the model, or not begun yet.
                    self._queue.after(COMMAND_SECONDS, timeout)
                    return None
                output = await self.keyboard.command_output(screen, SHOWN_LINES)
                return [Heard(fact=output, turn=self.state.turn or None)]
            case _:
                return None

    def _look_for_model(self) -> None:
        """The model is asked now: from time to time it is looked whether it can be had."""
        looking, self._model_looks = self._model_looks is not None, 0
        if not looking:
            self._queue.after(MODEL_SECONDS[0], Timeout("model"))

    async def _on_model_look(self) -> list[Heard]:
        if not self.running or self._model_looks is None:
            self._model_looks = None
            return []
        await self.keyboard.give_up()
        self._model_looks = min(self._model_looks + 1, len(MODEL_SECONDS) - 1)
        self._queue.after(MODEL_SECONDS[self._model_looks], Timeout("model"))
        return []

    # --- errands

    def on_command(self, errand: Deliver) -> None:
        """Its turn runs until a hook, the session file or the time-out ends it."""
        self.state = began(self.state, errand.turn, prompt_text(errand.message))
        self._queue.after(COMMAND_SECONDS, Timeout("command", errand.turn))

    async def settle(self, ask: Ask) -> Outcome:
        """Answers the dialog that asks."""
        return await self._dialogs.settle(ask)

    async def stop(self) -> Outcome:
        """Presses Escape, and looks later whether that helped."""
        self._stopping = True
        expected = [one.turn for one in self.state.expected if one.turn]
        begins = expected[-1] if expected and not self.running else self.state.turn
        return await interrupt(self.keyboard, self._queue, begins)

    async def change(self, change: Change) -> Outcome:
        """Types the command for the model; presses through the modes when that is taken."""
        model, mode = change.model, change.mode
        if mode is not None and mode not in MANIFEST["modes"]:
            known = ", ".join(MANIFEST["modes"])
            return NotTaken(why=f"Gemini CLI has no mode '{mode}'. Known: {known}.")
        outcome = await self.keyboard.submit(f"/model set {model}") if model else Taken()
        if mode is None or not isinstance(outcome, Taken):
            return outcome
        return await self.keyboard.set_mode(Mode(mode))
