"""Runs Codex in its terminal: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Never

from farhand.disk.tail import size_of
from farhand.drivers.codex import launch
from farhand.drivers.codex.sessions import CodexSessions, rollout_of
from farhand.drivers.codex.signed_out import is_signed_out
from farhand.drivers.codex.tmux.hooks import WORDING
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.link import CodexCli, CodexStartFile
from farhand.drivers.codex.tmux.screen import answer_on
from farhand.drivers.codex.tmux.state import CodexCursor, CodexRolloutState, CodexStart
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.drivers.wires.tmux.delivered_log import DELIVERED, DeliveredLog, with_turn_of
from farhand.drivers.wires.tmux.link import TmuxLink
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.errors import AgentNotStarted, DriverError
from farhand.model.facts import Noted
from farhand.model.logger import get_logger
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace

log = get_logger("codex")


class TmuxCodexDriver(CodexSessions):
    """Codex where a person can sit down; one for a node, whose workers share its tmux host."""

    backend: str = launch.MANIFEST["backend"]
    wire = "tmux"
    can = replace(USUAL, steer=True, terminal=True)

    def __init__(self, given: DriverContext, program: str = launch.MANIFEST["program"]) -> None:
        super().__init__(given)
        self.tmux_host = given.tmux_host
        self._program = program
        self._gate = given.folder_gate(launch.MANIFEST)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Codex alive and goes on after the cursor, or starts it."""
        host, folder = self.tmux_host, self.tmux_host.folder(worker)
        with host.hook_endpoint.listening(worker.name) as arrivals:
            try:
                pane, start = await self._find_or_start(worker, read_cursor(cursor, CodexCursor))
            except TmuxError as error:
                raise DriverError(str(error)) from error
            queue, keyboard = InputQueue[Never](), CodexKeyboard(host.tmux, pane)
            asks = HookAsks(WORDING, host.options.ask_seconds, queue, keyboard.where)
            rollouts = launch.home(self.environment) / "sessions"
            cli = CodexCli(queue, keyboard, asks, start, CodexStartFile(folder), rollouts)
            gone = Noted(text=f"The session {worker.session} cannot be taken up again. A new one begins.")
            opening = (Heard(fact=gone),) if worker.session and not start.path else ()
            link = TmuxLink(host.tmux, pane, folder, cli, queue, opening)
            async with link.listening(arrivals, host.folders):
                yield link

    @asynccontextmanager
    async def answers_on_screen(self, worker: Worker) -> AsyncIterator[AsyncIterator[str]]:
        """What Codex shows of the model's newest message: its rollout has it only when it is whole."""
        async with self.tmux_host.panes.screens(worker) as screens:
            yield (answer_on(screen) async for screen in screens)

    async def end(self, worker: Worker) -> None:
        """Ends the session and removes what was kept for it."""
        await self.tmux_host.dismiss(worker)

    # --- starting and finding

    async def _find_or_start(self, worker: Worker, cursor: CodexCursor) -> tuple[Pane, CodexCursor]:
        pane = await self.tmux_host.found(worker)
        if pane is None:
            return await self._start(worker, cursor)
        log.info("agent found", worker=worker.name, pane=pane.id)
        cursor = cursor if cursor.path else self._cursor_of(worker, cursor)
        expected = with_turn_of(worker, cursor.state.expected, cursor.state.turns.values())
        return pane, replace(cursor, state=replace(cursor.state, expected=expected))

    def _cursor_of(self, worker: Worker, cursor: CodexCursor) -> CodexCursor:
        """Where to go on with an agent that runs, for a link that lost its cursor."""
        folder = self.tmux_host.folder(worker)
        start = CodexStartFile(folder).read()
        expected = DeliveredLog(folder / DELIVERED).all() if start.path else cursor.state.expected
        state = CodexRolloutState(session=start.session, expected=expected)
        return CodexCursor(path=start.path, offset=start.offset, state=state)

    async def _start(self, worker: Worker, cursor: CodexCursor) -> tuple[Pane, CodexCursor]:
        directory = launch.workplace(worker)
        await self._gate.pass_through(worker)
        environment, options = self.environment, self.tmux_host.options
        program = launch.found(self._program, environment)
        session = worker.session or cursor.state.session
        rollout = rollout_of(launch.home(environment), session)
        # What is signed in to inside a sandbox is not seen out here.
        if options.sandboxes is None and await is_signed_out(program, directory, environment):
            raise AgentNotStarted("Codex is not logged in.")
        hook = await self.tmux_host.hook_command(worker)
        hooks = launch.session_hooks(hook.interpreter, hook.program, options.ask_seconds)
        resume = session if rollout else ""
        words = launch.terminal_line(program, worker, directory, hooks, resume=resume)
        start = CodexStart(session=resume, path=str(rollout), offset=size_of(rollout)) if rollout else CodexStart()
        CodexStartFile(self.tmux_host.folder(worker)).write(start)
        pane = await self.tmux_host.spawn(worker, words, environment)
        keyboard = CodexKeyboard(self.tmux_host.tmux, pane)
        late = launch.has_hooks(directory, environment) or launch.may_ask_to_sign_in(environment)
        await self.tmux_host.ready(pane, "Codex", partial(keyboard.through_dialogs, late=late))
        if not rollout:
            return pane, CodexCursor()
        # What was written before this start was told before, unless the cursor says that it was not.
        known = cursor.path == start.path
        state = replace(cursor.state, running="") if known else CodexRolloutState(session=resume)
        return pane, CodexCursor(path=start.path, offset=cursor.offset if known else start.offset, state=state)
