"""Runs OpenCode: over the node's one server, as one command a turn, or in tmux with the same API."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.opencode import modes, sessions
from farhand.drivers.opencode.exec.link import ExecDriver
from farhand.drivers.opencode.headless.api import Address, ApiError, opened
from farhand.drivers.opencode.headless.kept import OpenCodeLog
from farhand.drivers.opencode.headless.open_session import open_link
from farhand.drivers.opencode.headless.server import (
    QUIET,
    OpenCodeServer,
    checked_directory,
    is_healthy,
    program,
    resolved,
)
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.drivers.wires.tmux.host import TmuxHost
from farhand.model.ports import Driver, Link, SessionFound
from farhand.model.present import Worker
from farhand.model.words import Mode, Word, replace

BACKEND: str = modes.MANIFEST["backend"]
CAN = replace(USUAL, steer=True, models=True, modes=tuple(modes.MANIFEST["modes"]), ids=True)
START_SECONDS = 120.0
TRY_SECONDS = 1.5
LOOK_SECONDS = 0.2
LEAVE_SECONDS = 3.0


def build(given: DriverContext) -> list[Driver]:
    """Headless first: it is what a hiring takes by itself."""
    environment = given.child(modes.passed_on(given.variables))
    folder = given.folder / BACKEND
    return [
        HeadlessDriver(given, environment, folder),
        ExecDriver(given.holders, environment, folder),
        TmuxDriver(given.tmux_host, environment, given.ask_seconds),
    ]


class OpenCodeSessions:
    """The sessions of this machine, the same for every wire."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._database = sessions.database(environment)

    async def sessions(self, directory: str) -> list[SessionFound]:
        """OpenCode's conversations of that folder, or of every folder for "", newest first."""
        return await anyio.to_thread.run_sync(sessions.sessions, self._database, directory)

    def resume_command(self, worker: Worker) -> str:
        """The shell command that goes on with the worker's session at the desk."""
        return sessions.resume_command(worker)


class HeadlessDriver(OpenCodeSessions):
    """All workers of a node on one server: each has a session of its own, and rules of its own."""

    backend = BACKEND
    wire = "headless"
    can = CAN

    def __init__(self, given: DriverContext, environment: Mapping[str, str], folder: Path) -> None:
        super().__init__(environment)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._server = OpenCodeServer(given.holders, folder, environment)
        self._seconds = given.ask_seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's session, or begins it, and goes on after the cursor."""
        directory = checked_directory(worker)
        host = await self._server.up(worker)
        async with opened(host.address, directory) as api:
            link, _ = await open_link(api, host, self._server.folder(worker), worker, cursor, self._seconds)
            yield link

    async def end(self, worker: Worker) -> None:
        """Stops what the session does; with the last worker the server ends."""
        begun = OpenCodeLog(self._server.folder(worker)).begun()
        address = self._server.address()
        if begun is not None and address is not None:
            with suppress(ApiError):
                async with opened(address, resolved(worker)) as api:
                    await api.abort(begun.session)
        await self._server.leave(worker)


class Sign(Word):
    """How the server inside a terminal is reached, for its owner alone."""

    port: int
    password: str


class OpenCodeTui:
    """OpenCode in a pane, as a host."""

    desk = True

    def __init__(self, tmux_host: TmuxHost, pane: Pane, sign: Sign) -> None:
        self._tmux_host = tmux_host
        self._pane = pane
        self.address = Address(url=f"http://127.0.0.1:{sign.port}", password=sign.password)
        self.life = f"{pane.id}/{pane.pid}"

    async def gone(self) -> str:
        """Returns when the pane's process has ended."""
        try:
            death = await self._tmux_host.tmux.died(self._pane)
        except TmuxError as error:
            return f"{error} OpenCode is started again and keeps its memory."
        return f"OpenCode ended in its terminal (status {death.status})."


class TmuxDriver(OpenCodeSessions):
    """OpenCode where a person can sit down; spoken to over the API of that same process."""

    backend = BACKEND
    wire = "tmux"
    can = replace(CAN, terminal=True)

    def __init__(self, tmux_host: TmuxHost, environment: Mapping[str, str], seconds: float) -> None:
        super().__init__(environment)
        self.tmux_host = tmux_host
        self._environment = environment
        self._seconds = seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's terminal, or opens it, and goes on after the cursor."""
        directory = checked_directory(worker)
        folder = self.tmux_host.folder(worker)
        pane = await self.tmux_host.found(worker)
        sign = _sign(folder)
        fresh = pane is None or sign is None
        if pane is not None and sign is None:
            await self.tmux_host.end(worker)
        if pane is None or sign is None:
            pane, sign = await self._start(worker, folder)
        host = OpenCodeTui(self.tmux_host, pane, sign)
        async with opened(host.address, directory) as api:
            link, session = await open_link(api, host, folder, worker, cursor, self._seconds)
            if fresh:
                await api.show(session)
            yield link

    async def _start(self, worker: Worker, folder: Path) -> tuple[Pane, Sign]:
        sign = Sign(port=_free_port(), password=secrets.token_urlsafe(32))
        write_private(folder / "sign", msgspec.json.encode(sign))
        begun = OpenCodeLog(folder).begun()
        session = begun.session if begun else worker.session
        words = [program(self._environment), "--hostname", "127.0.0.1", "--port", str(sign.port)]
        known = bool(session) and await anyio.to_thread.run_sync(sessions.is_known, self._database, session)
        words += ["--session", session] if known else []
        variables = {
            **self._environment,
            **QUIET,
            **modes.variables(Mode.DEFAULT),
            "OPENCODE_SERVER_PASSWORD": sign.password,
        }
        pane = await self.tmux_host.spawn(worker, words, variables)

        async def arrive() -> str | None:
            address = Address(url=f"http://127.0.0.1:{sign.port}", password=sign.password)
            with anyio.move_on_after(START_SECONDS):
                # What it is asked in its first moments it may never answer: ask again.
                while not await is_healthy(address, resolved(worker), TRY_SECONDS):  # noqa: ASYNC110
                    await anyio.sleep(LOOK_SECONDS)
                # A session that is brought to a screen which is not drawn yet is never seen there.
                while not (await self.tmux_host.tmux.capture(pane)).strip():  # noqa: ASYNC110
                    await anyio.sleep(LOOK_SECONDS)
                return None
            return "its server does not answer"

        await self.tmux_host.ready(pane, "OpenCode", arrive)
        return pane, sign

    async def end(self, worker: Worker) -> None:
        """Ends the terminal and removes what was kept for it; the session stays in OpenCode's own data."""
        pane = await self.tmux_host.found(worker)
        with ended_after(pane.pid if pane else 0) as gone:
            await self.tmux_host.end(worker)
            await gone()
        folder = self.tmux_host.folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


@contextmanager
def ended_after(process: int) -> Iterator[Callable[[], Awaitable[None]]]:
    """Makes sure that a terminal's process is gone when its terminal is: in its first moments it hears no hangup."""
    try:
        watched = os.pidfd_open(process) if process else -1
    except OSError:
        watched = -1

    async def gone() -> None:
        if watched < 0:
            return
        with anyio.move_on_after(LEAVE_SECONDS):
            await anyio.wait_readable(watched)
            return
        with suppress(OSError):
            signal.pidfd_send_signal(watched, signal.SIGKILL)

    try:
        yield gone
    finally:
        if watched >= 0:
            os.close(watched)


def _sign(folder: Path) -> Sign | None:
    try:
        return msgspec.json.decode((folder / "sign").read_bytes(), type=Sign)
    except (OSError, msgspec.MsgspecError):
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
