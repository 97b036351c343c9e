"""What is Codex's own in tmux: its rollout, its hooks, and its time-outs."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Never

import anyio
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.codex.asks import CodexQuestion
from farhand.drivers.codex.tmux.hooks import stopped_without_rollout, translate_hook
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.screen import is_starting, takes_escape
from farhand.drivers.codex.tmux.state import CodexCursor, CodexStart, began, end_turn
from farhand.drivers.codex.tmux.translate import translate
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.tmux import TmuxError
from farhand.drivers.wires.tmux.interrupt import interrupt, interrupt_again
from farhand.drivers.wires.tmux.queue import InputQueue, Timeout
from farhand.drivers.wires.tmux.transcript import own_file, read_on
from farhand.model.facts import TurnEnded
from farhand.model.ports import Change, Deliver, Heard, NotTaken, Outcome
from farhand.model.present import Ask
from farhand.model.words import HowEnded, replace

STOP_SECONDS = 3.0
COMMAND_SECONDS = 1.5
# How often that is, where the CLI has not even started.
MOST_LOOKS = 40
CANNOT_CHANGE = "Codex in a terminal changes its model or mode by its own menus: type /model there, or hire it so."


class CodexStartFile:
    """A file in the worker's folder: which session runs, for a link that lost its cursor."""

    def __init__(self, folder: Path) -> None:
        # Agents outlive an upgrade: the name stays.
        self._path = folder / "began"

    def write(self, start: CodexStart) -> None:
        """Replaces it."""
        write_private(self._path, msgspec.json.encode(start))

    def read(self) -> CodexStart:
        """What was written; empty when there is none."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=CodexStart)
        except (OSError, msgspec.MsgspecError):
            return CodexStart()


class CodexCli:
    """One worker's Codex."""

    title = "Codex"
    steers = True
    confirms = True
    hooks_pid = None

    def __init__(
        self,
        queue: InputQueue[Never],
        keyboard: CodexKeyboard,
        asks: HookAsks[CodexQuestion],
        cursor: CodexCursor,
        start_file: CodexStartFile,
        rollouts: Path,
    ) -> None:
        self.keyboard = keyboard
        self.state = cursor.state
        self._queue = queue
        self._asks = asks
        self._start_file = start_file
        # Where Codex keeps its sessions.
        self._rollouts = rollouts
        # The rollout that is followed, and how far.
        self._path, self._offset = cursor.path, cursor.offset
        self._rollout_watch = anyio.CancelScope()
        # The rollout has just brought the end of a turn that was stopped.
        self._stopped = False

    # --- state

    @property
    def cursor(self) -> CodexCursor:
        """How far the rollout was read."""
        return CodexCursor(path=self._path, offset=self._offset, state=self.state)

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return bool(self.state.running)

    # --- sources

    def start_sources(self) -> None:
        """Follows the rollout of the session, as soon as it is known which that is."""
        self._rollout_watch.cancel()
        if self._path:
            self._rollout_watch = self._queue.watch(Path(self._path).parent, self._queue.put_file_changed)

    # --- facts

    def read(self) -> list[Heard]:
        """All that was added to the rollout."""
        heard, self._offset, self.state = read_on(self._path, self._offset, self.state, translate, time.time())
        ends = [one.fact for one in heard if isinstance(one.fact, TurnEnded)]
        self._stopped = any(end.how is HowEnded.INTERRUPTED for end in ends)
        return heard

    async def on_report(self, report: HookReport) -> list[Heard]:
        """What a hook reports; the rollout may report the same, before or after."""
        payload = parse(report.payload) or Fields({})
        heard, self.state = translate_hook(report.payload, self.state)
        self.follow(payload.text("transcript_path"), payload.text("session_id"))
        event, turn = payload.text("hook_event_name"), payload.text("turn_id")
        if event == "Stop" and self.state.running == turn:
            self._queue.after(STOP_SECONDS, Timeout("stop", turn, report.payload))
        return heard

    def follow(self, path: str, session: str) -> None:
        """It is known now, or has changed, where the session is written."""
        if path == self._path or session != self.state.session or own_file(path, self._rollouts) is None:
            return
        if Path(path).name.endswith(f"-{session}.jsonl"):
            self._path, self._offset = path, 0
            self._start_file.write(CodexStart(session=session, path=path))
            self.start_sources()

    def on_ask(self, asked: HookAsk) -> list[Heard]:
        """Raises the ask, in the turn that it says."""
        payload = parse(asked.report.payload) or Fields({})
        return self._asks.raise_ask(asked, turn=self.state.turns.get(payload.text("turn_id")))

    async def on_event(self, event: Never) -> list[Heard]:
        """There are none."""
        return event

    async def on_turn_ended(self) -> list[Heard]:
        """Whoever still asked in that turn waits no more; the next message comes when the screen knows of the end."""
        self._asks.close()
        if self._stopped:
            self._stopped = False
            # Whatever became of tmux, its end is reported by itself.
            with suppress(TmuxError):
                await self.keyboard.stopped()
        return []

    def on_death(self) -> list[Heard]:
        """Nothing: the core ends the turn."""
        return []

    # --- what did not happen

    async def on_timeout(self, timeout: Timeout) -> list[Heard]:
        """Ends a turn whose end nobody reported."""
        if self.state.running != timeout.turn:
            return []
        match timeout.what:
            case "stop":
                heard, self.state = stopped_without_rollout(timeout.payload, self.state)
                return heard
            case "interrupt":
                await interrupt_again(self.keyboard, self._queue, timeout, takes_escape)
                return []
            case "command" if timeout.tries < MOST_LOOKS and is_starting(await self.keyboard.screen()):
                self._queue.after(COMMAND_SECONDS, timeout.again())
                return []
            case "command":
                turn = self.state.turns.get(timeout.turn) or None
                printed = await self.keyboard.command_output(await self.keyboard.screen())
                ended, self.state = end_turn(self.state, timeout.turn, HowEnded.COMPLETED)
                return [Heard(fact=printed, turn=turn), *ended]
            case _:
                return []

    # --- errands

    def on_command(self, errand: Deliver) -> None:
        """Its turn runs until the time-out ends it: the rollout never tells of a command."""
        turn = f"command-{errand.message.id}"
        rest = tuple(one for one in self.state.expected if one.message != errand.message.id)
        self.state = began(replace(self.state, expected=rest), turn, errand.turn)
        self._queue.after(COMMAND_SECONDS, Timeout("command", turn))

    async def settle(self, ask: Ask) -> Outcome:
        """Answers the hook that asks."""
        return await self._asks.settle(ask)

    async def stop(self) -> Outcome:
        """Presses Escape, and looks later whether that helped."""
        self._asks.stopping()
        return await interrupt(self.keyboard, self._queue, self.state.running)

    async def change(self, change: Change) -> Outcome:  # noqa: ARG002
        """Not by keys."""
        return NotTaken(why=CANNOT_CHANGE)
