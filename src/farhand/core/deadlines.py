"""Time-outs: asks that nobody answered are closed, usage limits that are over let the queue go on.

One task sleeps until the nearest deadline, and costs nothing when there is none."""

from collections.abc import Sequence

import anyio

from farhand.core.hub import LocalHub
from farhand.model.errors import StoreError
from farhand.model.facts import AskRaised, Event, Limited
from farhand.model.ports import Clock
from farhand.model.present import Ask, Present, Worker

STORE_PAUSE_SECONDS = 2.0
Due = tuple[float, Ask | Worker]
_WITH_DEADLINE = frozenset((AskRaised, Limited))


def nearest(present: Present) -> Due | None:
    """What comes first: the deadline of an open ask, or the end of a worker's limit."""
    asks: list[Due] = [
        (ask.deadline, ask)
        for worker in present.workers.values()
        for ask in worker.asks
        if ask.settled is None and ask.deadline
    ]
    limits: list[Due] = [
        (worker.resumes_at, worker) for worker in present.workers.values() if worker.resumes_at is not None
    ]
    return min([*asks, *limits], key=lambda due: due[0], default=None)


class Deadlines:
    """Settles every ask that nobody answered in time, and lifts every limit whose time has come."""

    def __init__(self, hub: LocalHub, clock: Clock) -> None:
        self._hub = hub
        self._clock = clock
        self._changed = anyio.Event()
        hub.listen(self._on_events)

    def _on_events(self, events: Sequence[Event]) -> None:
        # No events: something could not be written, and an ask that was settled with it may be open again.
        for event in events:
            if type(event.fact) in _WITH_DEADLINE:
                break
        else:
            if events:
                return
        self._changed.set()

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            self._changed = anyio.Event()
            # An ask whose answer is on its way to the disk is no longer ours.
            due = nearest(self._hub.projected)
            if due is None:
                await self._changed.wait()
            elif due[0] <= self._clock.now():
                await self._handle(due[1])
            else:
                await self._sleep(due[0] - self._clock.now())

    async def _handle(self, due: Ask | Worker) -> None:
        try:
            await (self._hub.lift(due) if isinstance(due, Worker) else self._hub.expire(due))
        except StoreError:
            # The hub has logged it; it is still due and comes up again.
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _sleep(self, seconds: float) -> None:
        """Until then, or until a fact that may have an earlier deadline."""
        async with anyio.create_task_group() as tasks:

            async def wake() -> None:
                await self._changed.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wake)
            await self._clock.sleep(seconds)
            tasks.cancel_scope.cancel()
