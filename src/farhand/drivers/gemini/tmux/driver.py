"""Runs the Gemini CLI in its terminal: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from farhand.drivers.gemini import launch
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.sessions import GeminiSessions, find_file, to_go_on_with
from farhand.drivers.gemini.tmux.keyboard import GeminiKeyboard
from farhand.drivers.gemini.tmux.link import GeminiTmuxLink
from farhand.drivers.gemini.tmux.open_calls import GeminiPosition
from farhand.drivers.gemini.tmux.session_file import GeminiCursor, passed
from farhand.drivers.gemini.tmux.translate import GeminiState
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.preflight import workplace
from farhand.drivers.wires.text.prompt import worded
from farhand.drivers.wires.tmux import Pane
from farhand.drivers.wires.tmux.delivered import DeliveredLog, ExpectedMessage
from farhand.drivers.wires.tmux.typed_link import MOST_EXPECTED
from farhand.model.facts import SessionKnown
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace
from farhand.sdk.projects import project_folder

log = structlog.get_logger("gemini")
SESSION = "FARHAND_SESSION"
OFFSET = "FARHAND_OFFSET"


class TerminalGeminiDriver(GeminiSessions):
    """The CLI where a person can sit down; its workers share the node's tmux, inotify and desk."""

    backend: str = MANIFEST["backend"]
    wire = "tmux"
    can = replace(USUAL, models=True, modes=tuple(MANIFEST["modes"]), terminal=True)

    def __init__(self, given: DriverContext) -> None:
        self.tmux_host = given.tmux_host
        self._own = given.child(launch.passed_on(given.variables))
        self.places = GeminiPaths.of(self._own, given.folder / "gemini" / "home")
        self._ask_seconds = given.ask_seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Gemini CLI alive and goes on after the cursor, or starts it."""
        with self.tmux_host.hook_endpoint.attended(worker.name) as arrivals:
            pane, place = await self._found_or_started(worker, read_cursor(cursor, GeminiPosition))
            folder = self.tmux_host.folder(worker)
            link = GeminiTmuxLink(self.tmux_host.tmux, pane, self.places, place, folder, self._ask_seconds)
            session = place.spot.state.session
            if session != worker.session:
                link.first = [Heard(fact=SessionKnown(session=session))]
            async with link.at_work(arrivals, self.tmux_host.folders):
                yield link

    async def end(self, worker: Worker) -> None:
        """Ends the session in tmux and removes what was kept for it; the CLI's own files stay."""
        await self.tmux_host.dismiss(worker)

    async def _found_or_started(self, worker: Worker, place: GeminiPosition) -> tuple[Pane, GeminiPosition]:
        pane = await self.tmux_host.found(worker)
        if pane is None:
            return await self._start(worker, place)
        log.info("agent found", worker=worker.name, pane=pane.id)
        if not place.spot.path:
            place = await self._place_of(worker, pane)
        return pane, self._expecting(worker, place)

    async def _place_of(self, worker: Worker, pane: Pane) -> GeminiPosition:
        """Where to begin with an agent that runs and that nobody has a cursor for: where it was started."""
        session = await self.tmux_host.tmux.variable(pane, SESSION) or worker.session
        offset = await self.tmux_host.tmux.variable(pane, OFFSET) or "0"
        state = GeminiState(session=session, expected=DeliveredLog(self.tmux_host.folder(worker) / "handed").all())
        path = self._path(worker, session)
        return GeminiPosition(
            spot=GeminiCursor(path=path, offset=int(offset) if offset.isdecimal() else 0, state=state)
        )

    def _path(self, worker: Worker, session: str) -> str:
        """The session's file; until there is one, a name in the folder where it will be."""
        found = find_file(session, self.places.kept)
        folder = project_folder(workplace(worker), self.places.home) / "chats"
        return str(found or folder / f"session-{session}.jsonl")

    def _expecting(self, worker: Worker, place: GeminiPosition) -> GeminiPosition:
        """A message that was on its way when the node died is recognised when it turns up."""
        turn, state = worker.turn, place.spot.state
        handed = list(DeliveredLog(self.tmux_host.folder(worker) / "handed").all()[-MOST_EXPECTED:])
        if turn is not None and turn.message is not None:
            handed.append(ExpectedMessage(message=turn.message.id, text=worded(turn.message), turn=turn.id))
        waiting = {one.message: one for one in (*state.expected, *handed) if one.message not in state.seen}
        state = replace(state, expected=tuple(waiting.values()))
        return replace(place, spot=replace(place.spot, state=state))

    async def _start(self, worker: Worker, place: GeminiPosition) -> tuple[Pane, GeminiPosition]:
        session, words, place = await anyio.to_thread.run_sync(self._plan, worker, place)
        variables = {
            **self._own,
            **launch.variables(self.places),
            SESSION: session,
            OFFSET: str(place.spot.offset),
        }
        pane = await self.tmux_host.spawn(worker, words, variables)
        await self.tmux_host.ready(pane, MANIFEST["title"], GeminiKeyboard(self.tmux_host.tmux, pane).arrive)
        return pane, place

    def _plan(self, worker: Worker, place: GeminiPosition) -> tuple[str, list[str], GeminiPosition]:
        """What will be run, and from where on its session file is new; or why it cannot be."""
        directory, program = workplace(worker), launch.found(self._own)
        options = self.tmux_host.options
        hooks = launch.hook_groups(options.interpreter, Path(options.hook_program))
        launch.prepare(self.places, directory, self._own, hooks)
        before = place.spot.state.session or worker.session
        session, resume = to_go_on_with(before, self.places.kept)
        words = launch.terminal_line(program, worker.mode, worker.model, session, resume=resume)
        known = bool(place.spot.path) and session == before
        spot = (
            place.spot if known else GeminiCursor(path=self._path(worker, session), state=GeminiState(session=session))
        )
        if not known and resume:
            # What was written before this start is of another's time.
            spot = passed(spot)
        state = replace(spot.state, session=session, running=False)
        return session, words, GeminiPosition(spot=replace(spot, state=state))
