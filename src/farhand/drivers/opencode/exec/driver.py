"""Runs OpenCode a process a turn, each in a holder, its session resumed; it cannot ask."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio.to_thread

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.exec.link import OpenCodeExecLink, RunProcesses
from farhand.drivers.opencode.exec.state import OpenCodeRunCursor, OpenCodeRunLog
from farhand.drivers.opencode.sessions import OpenCodeSessions
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.folders.check import FolderGate
from farhand.model.holder_ports import Holders
from farhand.model.ports import Link
from farhand.model.present import Worker
from farhand.model.words import replace


class ExecOpenCodeDriver(OpenCodeSessions):
    """One process for each message; nothing runs between turns."""

    backend = launch.MANIFEST.backend
    wire = "exec"
    can = replace(USUAL, models=True, modes=tuple(launch.MANIFEST.modes), effort=launch.MANIFEST.efforts, ids=True)

    def __init__(
        self, holders: Holders, environment: Mapping[str, str], folder: Path, gate: FolderGate | None = None
    ) -> None:
        super().__init__(environment)
        self._gate = gate
        self._holders = holders
        self._environment = environment
        self._folder = folder

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Goes on after the cursor; there is nothing to start before somebody speaks."""
        launch.directory_of(worker)
        launch.program(self._environment)
        if self._gate is not None and not self._worker_folder(worker).exists():
            await self._gate.pass_through(worker)
        runs = OpenCodeRunLog(self._worker_folder(worker))
        may_start = partial(self._gate.pass_through, worker) if self._gate is not None else None
        position = read_cursor(cursor, OpenCodeRunCursor)
        yield OpenCodeExecLink(self._processes(worker), worker, runs, position, may_start)

    async def end(self, worker: Worker) -> None:
        """Ends a run that is left, and removes what was stored."""
        await self._processes(worker).end()
        folder = self._worker_folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))

    def _processes(self, worker: Worker) -> RunProcesses:
        return RunProcesses(self._holders, worker, self._environment)

    def _worker_folder(self, worker: Worker) -> Path:
        return self._folder / worker.hiring_id
