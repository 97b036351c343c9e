"""Runs OpenCode in tmux, where a person can sit down; it is spoken to over the HTTP API of that same process."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.headless.api import open_api
from farhand.drivers.opencode.headless.driver import HTTP_CAN, open_link
from farhand.drivers.opencode.headless.server import START_TIMEOUT_SECONDS, is_healthy
from farhand.drivers.opencode.headless.state import OpenCodeLog
from farhand.drivers.opencode.sessions import OpenCodeSessions
from farhand.drivers.opencode.tmux.server import (
    TerminalAddress,
    TerminalServer,
    killed_after,
    new_address,
    stored_address,
)
from farhand.drivers.wires.folders.check import FolderGate
from farhand.drivers.wires.tmux import Pane
from farhand.drivers.wires.tmux.host import TmuxHost
from farhand.model.ports import Link
from farhand.model.present import Worker
from farhand.model.words import Mode, replace

HEALTH_TIMEOUT_SECONDS = 1.5
POLL_SECONDS = 0.2


class TmuxOpenCodeDriver(OpenCodeSessions):
    """One terminal for each worker, with a server of its own inside."""

    backend = launch.MANIFEST.backend
    wire = "tmux"
    can = replace(HTTP_CAN, terminal=True)

    def __init__(
        self, tmux_host: TmuxHost, environment: Mapping[str, str], ask_seconds: float, gate: FolderGate | None = None
    ) -> None:
        super().__init__(environment)
        self._gate = gate
        self.tmux_host = tmux_host
        self._environment = environment
        self._ask_seconds = ask_seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's terminal, or opens it, and goes on after the cursor."""
        if self.tmux_host.options.sandboxes is not None:
            await self.tmux_host.options.sandboxes.need_loopback(worker)
        directory = launch.directory_of(worker)
        folder = self.tmux_host.folder(worker)
        pane = await self.tmux_host.found(worker)
        stored = stored_address(folder)
        fresh = pane is None or stored is None
        if pane is not None and stored is None:
            await self.tmux_host.end(worker)
        if pane is None or stored is None:
            pane, stored = await self._start(worker, folder)
        server = TerminalServer(self.tmux_host.tmux, pane, stored.address)
        async with open_api(server.address, directory) as api:
            link, session = await open_link(api, server, folder, worker, cursor, self._ask_seconds)
            if fresh:
                await api.show(session)
            yield link

    async def end(self, worker: Worker) -> None:
        """Ends the terminal and removes what was stored for it; the session stays in OpenCode's own data."""
        pane = await self.tmux_host.found(worker)
        with killed_after(pane.pid if pane else 0) as wait_or_kill:
            await self.tmux_host.end(worker)
            await wait_or_kill()
        folder = self.tmux_host.folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))

    async def _start(self, worker: Worker, folder: Path) -> tuple[Pane, TerminalAddress]:
        if self._gate is not None:
            await self._gate.pass_through(worker)
        stored = new_address(folder)
        start = OpenCodeLog(folder).start()
        session = start.session if start else worker.session
        program = launch.program(self._environment)
        resumed = session if await self.is_known(session) else ""
        command = launch.terminal_line(program, stored.port, resumed)
        variables = {**self._environment, **launch.variables(Mode.DEFAULT, self._environment, stored.password)}
        pane = await self.tmux_host.spawn(worker, command, variables)
        await self.tmux_host.ready(
            pane, "OpenCode", lambda: self._ready(pane, stored, launch.resolved_directory(worker))
        )
        return pane, stored

    async def _ready(self, pane: Pane, stored: TerminalAddress, directory: str) -> str | None:
        """Polls until its server answers and its screen is drawn; what went wrong, if it is neither in time."""
        with anyio.move_on_after(START_TIMEOUT_SECONDS):
            # A request in its first moments may never be answered: send another.
            while not await is_healthy(stored.address, directory, HEALTH_TIMEOUT_SECONDS):  # noqa: ASYNC110
                await anyio.sleep(POLL_SECONDS)
            # A session that is selected before the screen is drawn is never shown.
            while not (await self.tmux_host.tmux.capture(pane)).strip():  # noqa: ASYNC110
                await anyio.sleep(POLL_SECONDS)
            return None
        return "its server does not answer"
