"""Runs Claude Code in its terminal: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.disk.tail import size_of
from farhand.drivers.claude import launch
from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.sessions import ClaudeSessions
from farhand.drivers.claude.tmux.earlier import take_over
from farhand.drivers.claude.tmux.hooks import WORDING
from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.claude.tmux.link import ClaudeCli, ClaudeEvent
from farhand.drivers.claude.tmux.state import ClaudeCursor, ClaudeState
from farhand.drivers.claude.tmux.status import read_status
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.folders.check import FolderGate
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.hooks.endpoint import POST_PATH
from farhand.drivers.wires.preflight import workplace
from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.drivers.wires.tmux.delivered_log import DELIVERED, DeliveredLog, with_turn_of
from farhand.drivers.wires.tmux.host import HookCommand, TmuxHost
from farhand.drivers.wires.tmux.link import TmuxLink
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.errors import DriverError
from farhand.model.facts import SessionKnown
from farhand.model.logger import get_logger
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.sandbox import PRIVATE
from farhand.model.words import replace

log = get_logger("claude")
# The conversation that another bridge had open for the worker, in its folder.
EARLIER = "earlier"


class Plan(msgspec.Struct, frozen=True):
    """One start of Claude Code."""

    session: str
    words: tuple[str, ...]
    transcript: Path
    offset: int


class TmuxClaudeDriver(ClaudeSessions):
    """Claude Code where a person can sit down; one for a node, whose workers share its tmux host."""

    backend: str = MANIFEST["backend"]
    wire = "tmux"
    can = replace(USUAL, steer=True, models=True, modes=tuple(MANIFEST["modes"]), effort=launch.EFFORTS, terminal=True)

    def __init__(
        self,
        host: TmuxHost,
        environment: Mapping[str, str],
        program: str = "claude",
        gate: FolderGate | None = None,
    ) -> None:
        super().__init__(environment)
        self._gate = gate
        self.tmux_host = host
        self._program = program

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Claude Code alive and goes on after the cursor, or starts it."""
        host, folder = self.tmux_host, self.tmux_host.folder(worker)
        key = launch.session_key(folder / "key")
        with host.hook_endpoint.listening(worker.name, key) as arrivals:
            try:
                pane, start = await self._find_or_start(worker, read_cursor(cursor, ClaudeCursor))
            except TmuxError as error:
                raise DriverError(str(error)) from error
            queue, keyboard = InputQueue[ClaudeEvent](), ClaudeKeyboard(host.tmux, pane)
            asks = HookAsks(WORDING, host.options.ask_seconds, queue, keyboard.where)
            status, cost = self._status(worker, pane), launch.cost_file(folder)
            cli = ClaudeCli(queue, keyboard, asks, start, host.agent_pid(worker, pane), status, cost)
            session = start.state.session
            opening = (Heard(fact=SessionKnown(session=session)),) if session != worker.session else ()
            link = TmuxLink(host.tmux, pane, folder, cli, queue, opening)
            async with link.listening(arrivals, host.folders):
                yield link

    async def end(self, worker: Worker) -> None:
        """Ends the session and removes what was kept for it."""
        await self.tmux_host.dismiss(worker)

    # --- starting and finding

    async def _find_or_start(self, worker: Worker, cursor: ClaudeCursor) -> tuple[Pane, ClaudeCursor]:
        pane = await self.tmux_host.found(worker)
        if pane is None:
            return await self._start(worker, cursor)
        log.info("agent found", worker=worker.name, pane=pane.id)
        cursor = await self._cursor_of(worker, pane, cursor)
        expected = with_turn_of(worker, cursor.state.expected, (cursor.state.turn,))
        return pane, replace(cursor, state=replace(cursor.state, expected=expected))

    async def _cursor_of(self, worker: Worker, pane: Pane, cursor: ClaudeCursor) -> ClaudeCursor:
        """Where to go on with an agent that runs: after the cursor, or where it was started."""
        if cursor.path:
            # Hooks of a turn that runs may have found nobody here.
            return replace(cursor, state=replace(cursor.state, missed=cursor.state.prompt))
        session = read_status(self._status(worker, pane)).session or worker.session
        offset = await self.tmux_host.tmux.variable(pane, "FARHAND_OFFSET") or "0"
        path = self._places.transcript(worker.directory, session)
        expected = DeliveredLog(self.tmux_host.folder(worker) / DELIVERED).all()
        state = ClaudeState(session=session, expected=expected)
        return ClaudeCursor(path=str(path), offset=int(offset) if offset.isdecimal() else 0, state=state)

    async def _start(self, worker: Worker, cursor: ClaudeCursor) -> tuple[Pane, ClaudeCursor]:
        # Before the plan, which says in Claude Code's name that the folder is trusted.
        if self._gate is not None:
            await self._gate.pass_through(worker)
        worker = await self._taken_over(worker)
        plan = self._plan(worker, cursor, await self.tmux_host.hook_command(worker))
        variables = {
            **self._environment,
            **launch.variables(worker.mode, self._environment, root=os.geteuid() == 0),
            "FARHAND_OFFSET": str(plan.offset),
            "FARHAND_PID_FROM": "CLAUDE_PID",
        }
        pane = await self.tmux_host.spawn(worker, plan.words, variables)
        await self.tmux_host.ready(pane, "Claude Code", ClaudeKeyboard(self.tmux_host.tmux, pane).through_dialogs)
        known = bool(cursor.path) and cursor.state.session == plan.session
        state = replace(cursor.state, running=False) if known else ClaudeState(session=plan.session)
        return pane, ClaudeCursor(path=str(plan.transcript), offset=plan.offset, state=state)

    async def _taken_over(self, worker: Worker) -> Worker:
        """The worker with the conversation that another bridge has kept open for it in tmux, which ends there. It is
        written down before: the node may be killed between its end and our start."""
        if worker.session:
            return worker
        note = self.tmux_host.folder(worker) / EARLIER
        pane = await self.tmux_host.earlier(worker)
        if pane is not None:
            await take_over(self.tmux_host.tmux, pane, self._places, partial(write_private, note))
        session = note.read_text("utf-8") if note.exists() else ""
        return replace(worker, session=session) if session else worker

    def _status(self, worker: Worker, pane: Pane) -> Path:
        host = self.tmux_host
        return host.outside(worker, self._places.status(host.agent_pid(worker, pane)))

    def _plan(self, worker: Worker, cursor: ClaudeCursor, hook: HookCommand) -> Plan:
        """What will be run, where, and from where on its transcript is new; or why it cannot be."""
        directory = workplace(worker)
        program = launch.found(self._program, self._environment)
        session = worker.session or str(uuid.uuid4())
        transcript = Path(cursor.path) if cursor.path else self._places.transcript(str(directory), session)
        launch.prepare_account(self._places, self._environment, directory)
        settings, resume = self._write_settings(worker, hook), launch.resumes(transcript)
        words = launch.command_line(
            program, worker.mode, worker.model, settings, session, resume=resume, effort=worker.effort
        )
        # What was written before this start was told before, unless the cursor says that it was not.
        offset = cursor.offset if cursor.path and resume else size_of(transcript)
        return Plan(session, tuple(words), transcript, offset)

    def _write_settings(self, worker: Worker, hook: HookCommand) -> Path:
        folder, ask_seconds = self.tmux_host.folder(worker), self.tmux_host.options.ask_seconds
        key = launch.session_key(folder / "key")
        endpoint = launch.HookAddress(f"{hook.address}{POST_PATH}{worker.name}", key) if hook.address else None
        groups = launch.hook_groups(hook.interpreter, hook.program, ask_seconds, endpoint)
        (folder / PRIVATE).mkdir(mode=0o700, parents=True, exist_ok=True)
        has_own = partial(launch.has_own, places=self._places, directory=Path(worker.directory))
        cost = None if has_own("statusLine") else launch.cost_file(folder)
        settings = launch.session_settings(groups, cost, calm=not has_own(launch.CALM))
        launch.write_settings(folder / "settings.json", settings)
        return folder / "settings.json"
