"""Deadlines of asks: one task that sleeps until the nearest one, and costs nothing when there is none."""

from collections.abc import Sequence

import anyio

from farhand.core.hub import LocalHub
from farhand.model.errors import StoreError
from farhand.model.facts import AskRaised, Event
from farhand.model.ports import Clock
from farhand.model.present import Ask, Present

STORE_PAUSE_SECONDS = 2.0


def nearest(present: Present) -> Ask | None:
    """The open ask whose deadline comes first."""
    waiting = [
        ask for worker in present.workers.values() for ask in worker.asks if ask.settled is None and ask.deadline
    ]
    return min(waiting, key=lambda ask: ask.deadline or 0.0, default=None)


class Deadlines:
    """Settles every ask that nobody answered in time."""

    def __init__(self, hub: LocalHub, clock: Clock) -> None:
        self._hub = hub
        self._clock = clock
        self._raised = anyio.Event()
        hub.listen(self._hear)

    def _hear(self, events: Sequence[Event]) -> None:
        # No events: something could not be written, and an ask that was settled with it may be open again.
        if not events or any(isinstance(event.fact, AskRaised) for event in events):
            self._raised.set()

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            self._raised = anyio.Event()
            # An ask whose answer is on its way to the disk is no longer ours.
            ask = nearest(self._hub.coming)
            if ask is None or ask.deadline is None:
                await self._raised.wait()
            elif ask.deadline <= self._clock.now():
                await self._expire(ask)
            else:
                await self._sleep(ask.deadline - self._clock.now())

    async def _expire(self, ask: Ask) -> None:
        try:
            await self._hub.expire(ask)
        except StoreError:
            # The hub has logged it; the ask is still open and comes up again.
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _sleep(self, seconds: float) -> None:
        """Until the deadline, or until another ask might come before it."""
        async with anyio.create_task_group() as tasks:

            async def wake() -> None:
                await self._raised.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wake)
            await self._clock.sleep(seconds)
            tasks.cancel_scope.cancel()
