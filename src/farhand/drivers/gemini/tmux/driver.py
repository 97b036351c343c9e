"""Runs the Gemini CLI in its terminal: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from farhand.drivers.gemini import launch
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.sessions import GeminiSessions, find_file, remove_empty_twins, session_to_start
from farhand.drivers.gemini.tmux.dialogs import GeminiDialogs, GeminiEvent
from farhand.drivers.gemini.tmux.keyboard import GeminiKeyboard
from farhand.drivers.gemini.tmux.link import GeminiCli
from farhand.drivers.gemini.tmux.screen import answer_on
from farhand.drivers.gemini.tmux.session_file import at_end
from farhand.drivers.gemini.tmux.state import GeminiCursor, GeminiPosition, GeminiState, open_calls
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.preflight import workplace
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.drivers.wires.tmux import Pane
from farhand.drivers.wires.tmux.delivered_log import DELIVERED, MOST_EXPECTED, DeliveredLog, ExpectedMessage
from farhand.drivers.wires.tmux.host import HookCommand
from farhand.drivers.wires.tmux.link import TmuxLink
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.facts import SessionKnown
from farhand.model.logger import get_logger
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace
from farhand.sdk.projects import project_folder

log = get_logger("gemini")
SESSION = "FARHAND_SESSION"
OFFSET = "FARHAND_OFFSET"


class TmuxGeminiDriver(GeminiSessions):
    """The Gemini CLI where a person can sit down; one for a node, whose workers share its tmux host."""

    backend: str = MANIFEST["backend"]
    wire = "tmux"
    can = replace(USUAL, models=True, modes=tuple(MANIFEST["modes"]), terminal=True)

    def __init__(self, given: DriverContext) -> None:
        self.tmux_host = given.tmux_host
        self._gate = given.folder_gate(MANIFEST)
        self._own = given.child(launch.agent_variables(given.variables))
        self.places = GeminiPaths.of(self._own, given.folder / "gemini" / "home")
        self._ask_seconds = given.ask_seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Gemini CLI alive and goes on after the cursor, or starts it."""
        host, folder = self.tmux_host, self.tmux_host.folder(worker)
        with host.hook_endpoint.listening(worker.name) as arrivals:
            pane, start = await self._find_or_start(worker, read_cursor(cursor, GeminiPosition))
            queue, keyboard = InputQueue[GeminiEvent](), GeminiKeyboard(host.tmux, pane)
            dialogs = GeminiDialogs(queue, keyboard, open_calls(start), self._ask_seconds)
            cli = GeminiCli(queue, host.tmux, pane, keyboard, dialogs, start.cursor, self.places)
            session = start.cursor.state.session
            opening = (Heard(fact=SessionKnown(session=session)),) if session != worker.session else ()
            link = TmuxLink(host.tmux, pane, folder, cli, queue, opening)
            async with link.listening(arrivals, host.folders):
                yield link

    @asynccontextmanager
    async def answers_on_screen(self, worker: Worker) -> AsyncIterator[AsyncIterator[str]]:
        """What the CLI shows of the model's newest message: its file has it only when it is whole."""
        async with self.tmux_host.panes.screens(worker) as screens:
            yield (answer_on(screen) async for screen in screens)

    async def end(self, worker: Worker) -> None:
        """Ends the session in tmux and removes what was kept for it; the CLI's own files stay."""
        await self.tmux_host.dismiss(worker)

    # --- starting and finding

    async def _find_or_start(self, worker: Worker, start: GeminiPosition) -> tuple[Pane, GeminiPosition]:
        pane = await self.tmux_host.found(worker)
        if pane is None:
            return await self._start(worker, start)
        log.info("agent found", worker=worker.name, pane=pane.id)
        if not start.cursor.path:
            start = GeminiPosition(cursor=await self._cursor_of(worker, pane))
        return pane, replace(start, cursor=self._expecting(worker, start.cursor))

    async def _cursor_of(self, worker: Worker, pane: Pane) -> GeminiCursor:
        """Where to go on with an agent that runs, for a link that lost its cursor: where it was started."""
        session = await self.tmux_host.tmux.variable(pane, SESSION) or worker.session
        offset = await self.tmux_host.tmux.variable(pane, OFFSET) or "0"
        state = GeminiState(session=session, expected=self._delivered(worker))
        path = self._path(worker, session)
        return GeminiCursor(path=path, offset=int(offset) if offset.isdecimal() else 0, state=state)

    def _delivered(self, worker: Worker) -> tuple[ExpectedMessage, ...]:
        return DeliveredLog(self.tmux_host.folder(worker) / DELIVERED).all()

    def _path(self, worker: Worker, session: str) -> str:
        """The session's file; until there is one, a name in the folder where it will be."""
        found = find_file(session, self.places.kept)
        folder = project_folder(workplace(worker), self.places.home) / "chats"
        return str(found or folder / f"session-{session}.jsonl")

    def _expecting(self, worker: Worker, cursor: GeminiCursor) -> GeminiCursor:
        """A message that was on its way when the node died is recognised when it turns up."""
        turn, state = worker.turn, cursor.state
        delivered = list(self._delivered(worker)[-MOST_EXPECTED:])
        if turn is not None and turn.message is not None:
            delivered.append(ExpectedMessage(message=turn.message.id, text=prompt_text(turn.message), turn=turn.id))
        waiting = {one.message: one for one in (*state.expected, *delivered) if one.message not in state.seen}
        return replace(cursor, state=replace(state, expected=tuple(waiting.values())))

    async def _start(self, worker: Worker, start: GeminiPosition) -> tuple[Pane, GeminiPosition]:
        await self._gate.pass_through(worker)
        hook = await self.tmux_host.hook_command(worker)
        words, cursor = await anyio.to_thread.run_sync(self._plan, worker, start.cursor, hook)
        variables = {
            **self._own,
            **launch.variables(self.places),
            SESSION: cursor.state.session,
            OFFSET: str(cursor.offset),
        }
        pane = await self.tmux_host.spawn(worker, words, variables)
        await self.tmux_host.ready(pane, MANIFEST["title"], GeminiKeyboard(self.tmux_host.tmux, pane).through_dialogs)
        return pane, GeminiPosition(cursor=cursor)

    def _plan(self, worker: Worker, cursor: GeminiCursor, hook: HookCommand) -> tuple[list[str], GeminiCursor]:
        """What will be run, and from where on its session file is new; or why it cannot be."""
        directory, program = workplace(worker), launch.found(self._own)
        hooks = launch.hook_groups(hook.interpreter, hook.program)
        launch.prepare(self.places, directory, self._own, hooks)
        remove_empty_twins(self.places.kept)
        before = cursor.state.session or worker.session
        session, resume = session_to_start(before, self.places.kept)
        words = launch.terminal_line(program, worker.mode, worker.model, session, resume=resume)
        if not cursor.path or session != before:
            cursor = GeminiCursor(path=self._path(worker, session), state=GeminiState(session=session))
            # What was written before this start is of another's time.
            cursor = at_end(cursor) if resume else cursor
        return words, replace(cursor, state=replace(cursor.state, session=session, running=False))
