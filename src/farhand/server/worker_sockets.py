"""A unix socket for each sandboxed worker: whoever speaks over it speaks as that worker, whatever it says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.abc
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from farhand.model.facts import Ended, Event, Hired
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.server import http
from farhand.server.connections import MOST_OF_ONE_WORKER, ConnectionLimits
from farhand.server.sockets import listen

log = get_logger("sandbox")
# What says who a caller is; what comes over the socket of a worker says nothing of its own there.
CLAIMS = frozenset((b"authorization", b"x-farhand-worker", b"x-farhand-key"))


class AsWorker:
    """Every request is the worker's, with its key."""

    def __init__(self, app: ASGIApp, worker: str, key: str) -> None:
        self._app = app
        self._said = [(b"x-farhand-worker", worker.encode()), (b"authorization", f"Bearer {key}".encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on in the worker's name."""
        kept = [(name, value) for name, value in scope.get("headers", ()) if name.lower() not in CLAIMS]
        await self._app({**scope, "headers": [*kept, *self._said]}, receive, send)


class WorkerSockets:
    """Opens the socket of a worker with its hiring, or with the node, and takes it away with the worker."""

    def __init__(
        self,
        app: Starlette,
        place: Callable[[Worker], Path | None],
        key: Callable[[str], str],
        ended: Callable[[Worker], Awaitable[None]],
        limits: ConnectionLimits,
    ) -> None:
        self._app = app
        self._place = place
        self._key = key
        self._ended = ended
        self._limits = limits
        self._open: dict[str, tuple[Worker, anyio.CancelScope]] = {}
        self._changed = anyio.Event()

    def hear(self, events: Sequence[Event]) -> None:
        """Listens to what was just written; never waits."""
        if any(isinstance(event.fact, Hired | Ended) for event in events):
            self._changed.set()

    async def run(
        self,
        workers: Callable[[], Mapping[str, Worker]],
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serves until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            await self._fit(workers().values(), tasks)
            task_status.started()
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                await self._fit(workers().values(), tasks)

    async def _fit(self, workers: Iterable[Worker], tasks: anyio.abc.TaskGroup) -> None:
        now = {worker.hiring_id: worker for worker in workers}
        for hiring in [one for one in self._open if one not in now]:
            worker, scope = self._open.pop(hiring)
            scope.cancel()
            await self._ended(worker)
        for hiring, worker in now.items():
            path = self._place(worker)
            if path is not None and hiring not in self._open:
                await tasks.start(self._serve, worker, path)

    async def _serve(
        self, worker: Worker, path: Path, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        app = Starlette()
        app.mount("/", AsWorker(self._app, worker.name, self._key(worker.hiring_id)))
        with anyio.CancelScope() as scope, listen(path) as listener:
            self._open[worker.hiring_id] = (worker, scope)
            task_status.started()
            log.info("socket", worker=worker.name)
            await http.serve(app, listener, limits=ConnectionLimits(most=MOST_OF_ONE_WORKER, within=self._limits))
