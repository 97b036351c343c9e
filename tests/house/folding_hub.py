"""A hub in memory for one worker, and a clock that knows for how long it was slept: what sprints and reviews need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio
import anyio.lowlevel

from farhand.model.errors import StoreError
from farhand.model.facts import Draft, Event, Fact
from farhand.model.present import Present, Worker
from farhand.model.present_fold import fold
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS


class PausingClock(ManualClock):
    """A clock that knows for how long it was slept."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Notes it first."""
        self.pauses.append(seconds)
        await super().sleep(seconds)


class FoldingHub:
    """What sprints and reviews need of a hub: one worker, and what became of it in memory."""

    def __init__(self, worker: Worker) -> None:
        self.present = Present(workers={worker.name: worker})
        self.facts: list[Fact] = []
        # The next write fails, as on a full disk.
        self.full = False
        self._heard: Callable[[Sequence[Event]], None] = lambda _: None

    @property
    def projected(self) -> Present:
        """Nothing is on its way to a disk."""
        return self.present

    def listen(self, heard: Callable[[Sequence[Event]], None]) -> None:
        """Tells it of every fact."""
        self._heard = heard

    def wake(self) -> None:
        """Something happened."""
        self._heard(())

    def happens(self, fact: Fact, worker: str = "ann") -> None:
        """It is written, and told."""
        event = Event(seq=self.present.seq + 1, at=0.0, worker=worker, fact=fact)
        self.present = fold(self.present, event)
        self.facts.append(fact)
        self._heard((event,))

    def is_written(self, _: str) -> bool:
        """All is."""
        return True

    async def record(self, name: str, make: Callable[[Worker], list[Draft]]) -> None:
        """Folds what is made of the worker into the present."""
        if self.full:
            self.full = False
            raise StoreError("The disk is full.")
        for draft in make(self.present.workers[name]):
            self.happens(draft.fact, draft.worker)


async def until(true: Callable[[], bool]) -> None:
    """Returns when it is so."""
    with anyio.fail_after(SAFETY_SECONDS):
        while not true():
            await anyio.lowlevel.checkpoint()
