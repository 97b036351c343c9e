"""Runs OpenCode without a terminal: all workers of a node are sessions on its one server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio.to_thread

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.headless.api import OpenCodeApi, OpenCodeApiError, open_api
from farhand.drivers.opencode.headless.link import OpenCodeHttpLink, apply_mode
from farhand.drivers.opencode.headless.server import OpenCodeServer, ServerProcess
from farhand.drivers.opencode.headless.state import (
    OpenCodeCursor,
    OpenCodeLog,
    OpenCodeStart,
    OpenCodeState,
    OpenCodeTuning,
)
from farhand.drivers.opencode.schema import OpenCodeSession
from farhand.drivers.opencode.sessions import OpenCodeSessions
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.folders.check import FolderGate
from farhand.model.facts import Noted, SessionKnown
from farhand.model.holder_ports import Holders
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.sandbox import Sandboxes
from farhand.model.words import replace

# What it can do over its HTTP API, with or without a terminal.
HTTP_CAN = replace(
    USUAL,
    steer=True,
    models=True,
    modes=tuple(launch.MANIFEST.modes),
    effort=launch.MANIFEST.efforts,
    ids=True,
)
LOST = "The session cannot be taken up again: OpenCode does not know it. A new one begins."


class HeadlessOpenCodeDriver(OpenCodeSessions):
    """Each worker has a session and rules of its own on the shared server."""

    backend = launch.MANIFEST.backend
    wire = "headless"
    can = HTTP_CAN

    def __init__(
        self,
        holders: Holders,
        environment: Mapping[str, str],
        folder: Path,
        ask_seconds: float,
        gate: FolderGate | None = None,
        sandboxes: Sandboxes | None = None,
    ) -> None:
        super().__init__(environment)
        self._gate = gate
        self._sandboxes = sandboxes
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._server = OpenCodeServer(holders, folder, environment)
        self._ask_seconds = ask_seconds

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's session, or begins it, and goes on after the cursor."""
        if self._sandboxes is not None:
            self._sandboxes.refuse_shared(worker)
        directory = launch.directory_of(worker)
        may_start = partial(self._gate.pass_through, worker) if self._gate is not None else None
        server = await self._server.acquire(worker, may_start)
        async with open_api(server.address, directory) as api:
            link, _ = await open_link(api, server, self._server.folder(worker), worker, cursor, self._ask_seconds)
            yield link

    async def end(self, worker: Worker) -> None:
        """Stops what the session does; with the last worker the server ends."""
        start = OpenCodeLog(self._server.folder(worker)).start()
        address = self._server.address()
        if start is not None and address is not None:
            with suppress(OpenCodeApiError):
                async with open_api(address, launch.resolved_directory(worker)) as api:
                    await api.abort(start.session)
        await self._server.release(worker)


async def open_link(
    api: OpenCodeApi, server: ServerProcess, folder: Path, worker: Worker, cursor: str, ask_seconds: float
) -> tuple[OpenCodeHttpLink, str]:
    """The link, and the session that it is about: the worker's own, or a new one."""
    log, first = OpenCodeLog(folder), list[Heard]()
    start = await anyio.to_thread.run_sync(log.start)
    session = await api.session(start.session) if start else None
    if start is None or session is None:
        session = await api.session(worker.session) if worker.session else None
        if session is None and (worker.session or start is not None):
            first = [Heard(fact=Noted(text=LOST))]
        start = await _start(api, worker, session)
        session = session or await api.session(start.session) or OpenCodeSession(id=start.session)
        log.write_start(start)
    await apply_mode(api, session, worker.mode)
    if worker.session != start.session:
        first = [*first, Heard(fact=SessionKnown(session=start.session))]
    tuning = OpenCodeTuning(mode=worker.mode, model=worker.model, effort=worker.effort, agent=session.agent)
    tuning.directory = launch.resolved_directory(worker)
    position = _cursor(read_cursor(cursor, OpenCodeCursor), start, log)
    return OpenCodeHttpLink(api, server, log, position, tuning, ask_seconds, first), start.session


async def _start(api: OpenCodeApi, worker: Worker, known: OpenCodeSession | None) -> OpenCodeStart:
    """A session of the past is the worker's own from its last message on."""
    if known is None:
        return OpenCodeStart(session=(await api.create(worker.name, launch.rules(worker.mode))).id)
    return OpenCodeStart(session=known.id, after=await api.newest(known.id))


def _cursor(cursor: OpenCodeCursor, start: OpenCodeStart, log: OpenCodeLog) -> OpenCodeCursor:
    if cursor.state.session != start.session:
        state = OpenCodeState(session=start.session, after=start.after, newest=start.after)
        cursor = OpenCodeCursor(state=state)
    state = cursor.state
    # What was delivered after the cursor was written is recognised when it turns up.
    known = {one.id: one for one in (*log.deliveries(), *state.expected) if one.id > state.after}
    return replace(cursor, state=replace(state, expected=tuple(known.values())))
