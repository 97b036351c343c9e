"""The workers of a node: one task each, started for all that are on the team and for everyone who is hired."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import anyio
import anyio.abc

from farhand.core.hub import LocalHub
from farhand.core.link_service import STORE_PAUSE_SECONDS, owner
from farhand.core.worker import WorkerTask
from farhand.model.ask_limits import OPEN_ASKS
from farhand.model.errors import DriverError, StoreError, UnknownBackend
from farhand.model.facts import Ended, Event, Hired
from farhand.model.logger import get_logger
from farhand.model.ports import Can, Clock, Driver, Link
from farhand.model.present import Worker
from farhand.model.store_ports import Journal

log = get_logger("team")


class Team:
    """Keeps a task for every worker."""

    def __init__(
        self,
        hub: LocalHub,
        journal: Journal,
        drivers: Mapping[str, Driver],
        clock: Clock,
        open_asks: int = OPEN_ASKS,
        sign_in: Mapping[str, str] | None = None,
    ) -> None:
        # How a person signs in to the agents of each backend, at the desk.
        self._sign_in = sign_in or {}
        self._hub = hub
        self._open_asks = open_asks
        self._journal = journal
        self._drivers = drivers
        self._clock = clock
        self._names: set[str] = set()
        self._hired: list[str] = []
        self._someone_hired = anyio.Event()
        hub.listen(self._on_events)

    def _on_events(self, events: Sequence[Event]) -> None:
        """Called by the hub with what was just written: notes who is hired and who has left."""
        for event in events:
            if isinstance(event.fact, Hired):
                hired = event.fact
                log.info(
                    "hired", worker=event.worker, backend=hired.backend, mode=hired.mode, directory=hired.directory
                )
                self._hired.append(event.worker)
                self._someone_hired.set()
            elif isinstance(event.fact, Ended):
                self._names.discard(event.worker)

    async def run(self) -> None:
        """Runs the team until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            for worker in self._hub.present.workers.values():
                await self._start(worker, tasks)
            while True:
                await self._someone_hired.wait()
                self._someone_hired = anyio.Event()
                hired, self._hired = self._hired, []
                for name in hired:
                    if name in self._hub.present.workers and name not in self._names:
                        await self._start(self._hub.present.workers[name], tasks)

    async def _start(self, worker: Worker, tasks: anyio.abc.TaskGroup) -> None:
        driver = self._drivers.get(worker.kind) or AbsentDriver(worker.backend, self._drivers)
        cursor = await self._load_cursor(owner(worker.name, worker.since))
        sign_in = self._sign_in.get(worker.backend, "")
        task = WorkerTask(worker, self._hub, driver, self._clock, cursor, self._open_asks, sign_in)
        self._names.add(worker.name)
        tasks.start_soon(task.run, name=f"worker {worker.name}")

    async def _load_cursor(self, name: str) -> str:
        """The stored cursor of the worker's wire; retries while the store cannot be read."""
        while True:
            try:
                return await self._journal.cursor(name)
            except StoreError as error:
                log.error("team waits for the store", worker=name, error=error.text)
                await self._clock.sleep(STORE_PAUSE_SECONDS)


class AbsentDriver:
    """Stands in where this node has no driver: the worker stays on the team, offline, until it is let go."""

    wire = ""
    can = Can()

    def __init__(self, backend: str, known: Collection[str]) -> None:
        self.backend = backend
        self._known = known

    def open(self, worker: Worker, cursor: str) -> AbstractAsyncContextManager[Link]:  # noqa: ARG002
        """Says which backends there are."""
        raise DriverError(UnknownBackend(self.backend, self._known).text)

    async def end(self, worker: Worker) -> None:
        """There is nothing to end."""
