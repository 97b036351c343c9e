"""Runs the interactive Codex: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from farhand.disk.tail import size_of
from farhand.drivers.codex import launch
from farhand.drivers.codex.sessions import CodexSessions, rollout_of
from farhand.drivers.codex.tmux.cursor import CodexCursor, CodexStart, CodexStartFile
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.link import CodexTmuxLink
from farhand.drivers.codex.tmux.pending import CodexQuestions
from farhand.drivers.codex.tmux.translate import CodexRolloutState
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.text.prompt import worded
from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.drivers.wires.tmux.delivered import DeliveredLog, ExpectedMessage
from farhand.model.errors import DriverError
from farhand.model.facts import Noted
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace

log = structlog.get_logger("codex")


class InteractiveCodexDriver(CodexSessions):
    """Codex where a person can sit down; its workers share the host with all others that sit in tmux."""

    backend: str = launch.MANIFEST["backend"]
    wire = "tmux"
    can = replace(USUAL, steer=True, terminal=True)

    def __init__(self, given: DriverContext, program: str = launch.MANIFEST["program"]) -> None:
        super().__init__(given)
        self.tmux_host = given.tmux_host
        self._program = program

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Codex alive and goes on after the cursor, or starts it."""
        host, folder = self.tmux_host, self.tmux_host.folder(worker)
        with host.hook_endpoint.attended(worker.name) as arrivals:
            try:
                pane, spot = await self._found_or_started(worker, read_cursor(cursor, CodexCursor))
            except TmuxError as error:
                raise DriverError(str(error)) from error
            link = CodexTmuxLink(host.tmux, pane, spot, CodexQuestions(host.options.ask_seconds), folder)
            if worker.session and not spot.path:
                gone = f"The session {worker.session} cannot be taken up again. A new one begins."
                link.first = [Heard(fact=Noted(text=gone))]
            async with link.at_work(arrivals, host.folders):
                yield link

    async def end(self, worker: Worker) -> None:
        """Ends the session and removes what was kept for it."""
        await self.tmux_host.dismiss(worker)

    # --- starting and finding

    async def _found_or_started(self, worker: Worker, spot: CodexCursor) -> tuple[Pane, CodexCursor]:
        pane = await self.tmux_host.found(worker)
        if pane is None:
            return await self._start(worker, spot)
        log.info("agent found", worker=worker.name, pane=pane.id)
        return pane, _expecting(worker, spot if spot.path else self._spot_of(worker, spot))

    def _spot_of(self, worker: Worker, spot: CodexCursor) -> CodexCursor:
        """Where to go on with an agent that runs, for a reader who lost its place."""
        folder = self.tmux_host.folder(worker)
        began = CodexStartFile(folder / "began").read()
        expected = DeliveredLog(folder / "handed").all() if began.path else spot.state.expected
        return CodexCursor(
            path=began.path, offset=began.offset, state=CodexRolloutState(session=began.session, expected=expected)
        )

    async def _start(self, worker: Worker, spot: CodexCursor) -> tuple[Pane, CodexCursor]:
        directory = launch.workplace(worker)
        environment, options = self.environment, self.tmux_host.options
        program = launch.found(self._program, environment)
        session = worker.session or spot.state.session
        rollout = rollout_of(launch.home(environment), session)
        hooks = launch.session_hooks(options.interpreter, options.hook_program, options.ask_seconds)
        resume = session if rollout else ""
        words = launch.terminal_line(program, worker, directory, hooks, resume=resume)
        began = CodexStart(session=resume, path=str(rollout), offset=size_of(rollout)) if rollout else CodexStart()
        CodexStartFile(self.tmux_host.folder(worker) / "began").write(began)
        pane = await self.tmux_host.spawn(worker, words, environment)
        hands, reviews = CodexKeyboard(self.tmux_host.tmux, pane), launch.has_hooks(directory, environment)
        await self.tmux_host.ready(pane, "Codex", lambda: hands.through_dialogs(late=reviews))
        if not rollout:
            return pane, CodexCursor()
        # What was written before this start was told before, unless the cursor says that it was not.
        known = spot.path == began.path
        state = replace(spot.state, running="") if known else CodexRolloutState(session=resume)
        return pane, CodexCursor(path=began.path, offset=spot.offset if known else began.offset, state=state)


def _expecting(worker: Worker, spot: CodexCursor) -> CodexCursor:
    """A message that was on its way when the node died is recognised when it turns up."""
    turn, known = worker.turn, spot.state.expected
    message = turn.message if turn else None
    if turn is None or message is None or turn.id in spot.state.turns.values():
        return spot
    if any(one.message == message.id for one in known):
        return spot
    expected = (*known, ExpectedMessage(message=message.id, text=worded(message), turn=turn.id))
    return replace(spot, state=replace(spot.state, expected=expected))
