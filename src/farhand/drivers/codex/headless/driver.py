"""Runs Codex without a terminal: JSON-RPC both ways with its app-server, in a holder, so that the node may die."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.drivers.codex import launch
from farhand.drivers.codex.headless.link import CodexHeadlessLink
from farhand.drivers.codex.headless.state import CodexHeadlessCursor
from farhand.drivers.codex.sessions import CodexSessions
from farhand.drivers.wires.asks.answers import PartAnswers
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.model.errors import AgentNotStarted
from farhand.model.ports import (
    Link,
)
from farhand.model.present import Worker
from farhand.model.words import replace


class HeadlessCodexDriver(CodexSessions):
    """Codex without a terminal, the usual one: every message and answer by its id."""

    backend: str = launch.MANIFEST["backend"]
    wire = "headless"
    can = replace(USUAL, steer=True, models=True, modes=launch.MODES, effort=launch.EFFORTS, ids=True)

    def __init__(self, context: DriverContext, program: str = launch.MANIFEST["program"]) -> None:
        super().__init__(context)
        self._program = program
        self._gate = context.folder_gate(launch.MANIFEST)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Starts the worker's app-server, or finds it alive and goes on after the cursor. A new life resumes."""
        position, directory = read_cursor(cursor, CodexHeadlessCursor), launch.workplace(worker)
        session = worker.session or position.state.session
        thread = launch.thread_params(worker, directory)
        if session:
            thread |= {"threadId": session, "excludeTurns": True}
        argv = launch.app_server_line(launch.found(self._program, self.environment), directory)
        program = Program(argv=tuple(argv), directory=worker.directory, environment=self.environment)
        may_start = partial(self._gate.pass_through, worker)
        async with open_wire(self._context.holders, worker.hiring_id, program, position.wire, may_start) as process:
            answers = PartAnswers(self._folder(worker) / "picks")
            link = CodexHeadlessLink(process, position, thread, self._context.ask_seconds, answers)
            await link.initialize()
            signed_out = await link.is_signed_out()
            if not signed_out:
                yield link
        if signed_out:
            # What it would say of itself stays as it was at its start.
            await forget(self._context.holders, worker.hiring_id)
            raise AgentNotStarted("Codex is not logged in.")

    def _folder(self, worker: Worker) -> Path:
        return self._context.folder / worker.backend / worker.hiring_id

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays where Codex keeps its sessions."""
        await forget(self._context.holders, worker.hiring_id)
        folder = self._folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
