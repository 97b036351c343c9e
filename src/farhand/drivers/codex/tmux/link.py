"""An open link to one Codex in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.disk.watch import FolderWatcher
from farhand.drivers.codex.tmux.cursor import CodexCursor, CodexStart, CodexStartFile
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.pending import CodexQuestions, question_of
from farhand.drivers.codex.tmux.screen import is_asking
from farhand.drivers.codex.tmux.translate import (
    CodexRolloutState,
    end_turn,
    stopped_without_rollout,
    translate,
    translate_hook,
)
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport
from farhand.drivers.wires.hooks.hook_link import HookedLink
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.model.ports import Batch, Deliver, Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowEnded, replace

STOP_PATIENCE_SECONDS = 3.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
MOST_ESCAPES = 4
CANNOT_CHANGE = "Codex in a terminal changes its model or mode by its own menus: type /model there, or hire it so."


class CodexTimeout(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    turn: str
    payload: bytes = b""
    tries: int = 0


class CodexTmuxLink(HookedLink[CodexTimeout]):
    """One worker's Codex. Only `facts` moves the spot; errands leave it a note."""

    title = "Codex"
    _spot: CodexCursor
    _hands: CodexKeyboard
    _questions: CodexQuestions

    def __init__(self, tmux: Tmux, pane: Pane, spot: CodexCursor, questions: CodexQuestions, folder: Path) -> None:
        super().__init__(tmux, pane, folder)
        self._kept = CodexStartFile(folder / "began")
        self._spot = spot
        self._questions = questions
        self._hands = CodexKeyboard(tmux, pane)
        self._folders: FolderWatcher | None = None
        self._following: anyio.CancelScope | None = None

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._attend(tasks, folders)
        self._folders = folders
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        self._follow()

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[HookArrival]) -> None:
        async for arrival in arrivals:
            self._put(arrival)

    def _follow(self) -> None:
        """Follows the rollout of the session, as soon as it is known which that is."""
        if self._following is not None:
            self._following.cancel()
        if self._tasks is not None and self._folders is not None and self._spot.path:
            # Made here: it may be called off before its task has run.
            self._following = anyio.CancelScope()
            folder = Path(self._spot.path).parent
            self._tasks.start_soon(self._watch_alone, self._following, self._folders, folder, name="rollout")

    async def _watch_alone(self, scope: anyio.CancelScope, folders: FolderWatcher, folder: Path) -> None:
        with scope:
            await self._watch(folders, folder)

    # --- facts

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._spot))

    async def _happened(self, item: CodexTimeout) -> list[Heard]:
        return await self._late(item)

    def _translate(self, line: bytes, state: Any, at: float) -> tuple[list[Heard], Any]:
        return translate(line, state, at)

    def _turn(self) -> str | None:
        return self._spot.state.turns.get(self._spot.state.running) or None

    async def _reported(self, arrived: HookReport) -> list[Heard]:
        payload = parse(arrived.payload) or Fields({})
        heard, state = translate_hook(arrived.payload, self._spot.state)
        self._spot = replace(self._spot, state=state)
        self._moved(payload.text("transcript_path"), payload.text("session_id"))
        event, turn = payload.text("hook_event_name"), payload.text("turn_id")
        if event == "Stop" and state.running == turn:
            self._after(STOP_PATIENCE_SECONDS, CodexTimeout("stop", turn, arrived.payload))
        return heard

    def _moved(self, path: str, session: str) -> None:
        """It is known now, or has changed, where the session is written."""
        if path and path != self._spot.path and session == self._spot.state.session:
            self._spot = replace(self._spot, path=path, offset=0)
            self._kept.write(CodexStart(session=session, path=path))
            self._follow()

    def _raised(self, asked: HookAsk, payload: Fields) -> Heard:
        turn = self._spot.state.turns.get(payload.text("turn_id"))
        return Heard(fact=self._questions.hold(asked, question_of(payload)), turn=turn)

    # --- what did not happen

    async def _late(self, later: CodexTimeout) -> list[Heard]:
        state = self._spot.state
        if state.running != later.turn:
            return []
        match later.what:
            case "stop":
                heard, state = stopped_without_rollout(later.payload, state)
            case "interrupt" if later.tries < MOST_ESCAPES:
                await self._escape_again(later)
                return []
            case "command":
                said = await self._read_off(await self._hands.screen())
                ended, state = end_turn(state, later.turn, HowEnded.COMPLETED)
                heard = said + ended
            case _:
                return []
        self._spot = replace(self._spot, state=state)
        return heard

    async def _escape_again(self, later: CodexTimeout) -> None:
        """Once more, if it still works or asks: at rest, Escape means something else."""
        screen = await self._hands.screen()
        if is_asking(screen) or "esc to interrupt" in screen:
            await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, msgspec.structs.replace(later, tries=later.tries + 1))

    # --- errands

    async def _settle(self, ask: Ask) -> Outcome:
        return await self._questions.settle(ask)

    async def _stop(self) -> Outcome:
        await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, CodexTimeout("interrupt", self._spot.state.running))
        return Taken()

    async def _change(self, model: str | None, mode: str | None) -> Outcome:  # noqa: ARG002
        return NotTaken(why=CANNOT_CHANGE)

    def _commanded(self, errand: Deliver) -> None:
        name = f"command-{errand.message.id}"
        state = replace(self._spot.state, expected=self._others(errand.message.id))
        self._note(_begun(state, name, errand.turn))
        self._after(COMMAND_PATIENCE_SECONDS, CodexTimeout("command", name))


def _begun(state: CodexRolloutState, turn: str, ours: str) -> CodexRolloutState:
    return replace(state, turns={**state.turns, turn: ours}, running=turn, spoke=False, last_text="")
