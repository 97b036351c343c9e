"""Keeps the sprints of a node going: one move at a time for each worker, all of them out of the present."""

from collections.abc import Sequence
from typing import Protocol

import anyio
import anyio.abc
import structlog

from farhand.core import sprint_moves
from farhand.core.hub import LocalHub
from farhand.model import facts
from farhand.model.errors import StoreError
from farhand.model.facts import Draft, Event
from farhand.model.history import TurnEntry
from farhand.model.names import origin
from farhand.model.ports import Clock
from farhand.model.present import Worker
from farhand.model.sprint import SprintPhase, SprintState

log = structlog.get_logger("sprints")
STORE_PAUSE_SECONDS = 2.0
LOOKED_BACK = 50


class SprintTools(Protocol):
    """What a sprint needs of the worker's folder."""

    async def verify(self, worker: Worker, command: str) -> tuple[bool, str]:
        """Whether the command succeeds in its folder, and what it printed."""
        ...

    async def commit(self, worker: Worker, subject: str, trailer: str) -> tuple[str, str]:
        """Commits what changed there: the commit's id, or why there is none. A trailer that is committed already has
        its own commit again; where there is no repository or no change, both are empty."""
        ...


class Sprints:
    """Moves every sprint on whose worker is free."""

    def __init__(self, hub: LocalHub, clock: Clock, tools: SprintTools) -> None:
        self._hub = hub
        self._clock = clock
        self._tools = tools
        self._changed = anyio.Event()
        self._moving: set[str] = set()
        hub.listen(self._on_events)

    def _on_events(self, events: Sequence[Event]) -> None:
        # No events: something could not be written, and is to be tried again.
        workers = self._hub.present.workers
        if not events or any((one := workers.get(event.worker)) and one.sprint for event in events):
            self._changed.set()

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._changed = anyio.Event()
                for worker in self._hub.present.workers.values():
                    ready = sprint_moves.is_ready(worker) and self._hub.is_written(worker.name)
                    if ready and worker.name not in self._moving:
                        self._moving.add(worker.name)
                        tasks.start_soon(self._move, worker, name=f"sprint {worker.name}")
                await self._changed.wait()

    async def _move(self, worker: Worker) -> None:
        try:
            if worker.sprint is not None:
                await self._take(worker, worker.sprint)
        except StoreError as error:
            log.error("sprint waits for the store", worker=worker.name, error=error.text)
            await self._clock.sleep(STORE_PAUSE_SECONDS)
        finally:
            self._moving.discard(worker.name)
            self._changed.set()

    async def _take(self, worker: Worker, running: SprintState) -> None:
        match running.phase:
            case SprintPhase.PROMPT:
                await self._hub.record(worker.name, lambda now: sprint_moves.give(now, self._clock.now()))
            case SprintPhase.TURN:
                ended, text = await self._last_turn(worker.name, running.message)
                await self._hub.record(worker.name, lambda now: sprint_moves.after_turn(now, ended, text))
            case SprintPhase.CHECK:
                await self._check(worker, running)

    async def _last_turn(self, name: str, message: str) -> tuple[facts.TurnEnded | None, str]:
        """How the turn of that prompt ended, and what was said in it."""
        page = await self._hub.history(name, limit=LOOKED_BACK)
        for entry in reversed(page.entries):
            if isinstance(entry, TurnEntry) and entry.view.message and origin(entry.view.message) == message:
                return entry.view.ended, entry.view.text
        return None, ""

    async def _check(self, worker: Worker, running: SprintState) -> None:
        passed, output, commit, problem = True, "", "", ""
        if running.verifier:
            passed, output = await self._tools.verify(worker, running.verifier)
        if passed and running.commits:
            trailer = f"Sprint-Task: {running.id}/{running.at + 1}"
            commit, problem = await self._tools.commit(worker, running.task, trailer)

        def make_drafts(now: Worker) -> list[Draft]:
            # Somebody may have skipped the task meanwhile.
            same = now.sprint is not None and (now.sprint.id, now.sprint.at) == (running.id, running.at)
            if not same:
                return []
            return sprint_moves.checked(now, passed=passed, output=output, commit=commit, problem=problem)

        await self._hub.record(worker.name, make_drafts)
