"""A cache of the newest events: a watcher who keeps up never touches the disk, and a slow one costs nothing."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from farhand.model.callbacks import Callbacks
from farhand.model.facts import Event
from farhand.model.words import Seq

CACHED_EVENTS = 4096
CACHED_BYTES = 8 * 1024 * 1024


class Tail:
    """The last few thousand events, as words and as they were written. Numbers are without gaps."""

    def __init__(self, seq: Seq) -> None:
        self.seq = seq
        self.first = seq + 1
        self._bytes = 0
        self._events: list[Event] = []
        self._bodies: list[bytes] = []
        self._added = asyncio.Event()
        self._callbacks = Callbacks()

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` whenever something was added; it must not wait. Cheaper than a waiter of its own."""
        return self._callbacks.calling(wake)

    def add(self, events: Sequence[Event], bodies: Sequence[bytes]) -> None:
        """Adds what was just written and wakes all waiters."""
        if not events:
            return
        self._events.extend(events)
        self._bodies.extend(bodies)
        self.seq = events[-1].seq
        self._bytes += sum(map(len, bodies))
        if len(self._events) > 2 * CACHED_EVENTS or self._bytes > 2 * CACHED_BYTES:
            self._shorten()
        wait_after, self._added = self._added, asyncio.Event()
        wait_after.set()
        self._callbacks.call()

    def _shorten(self) -> None:
        """Evicts half of the cache, so that the cost is paid once in many events."""
        surplus = max(0, len(self._events) - CACHED_EVENTS)
        self._bytes -= sum(map(len, self._bodies[:surplus]))
        while self._bytes > CACHED_BYTES:
            self._bytes -= len(self._bodies[surplus])
            surplus += 1
        del self._events[:surplus]
        del self._bodies[:surplus]
        self.first = self.seq + 1 - len(self._events)

    def contains(self, after: Seq) -> bool:
        """Whether everything after that number is here; after a wait it may be here no more."""
        return after + 1 >= self.first

    def events(self, after: Seq, limit: int) -> list[Event]:
        """Events after that number."""
        start = after + 1 - self.first
        return self._events[start : start + limit]

    def bodies(self, after: Seq, limit: int) -> list[bytes]:
        """The same, as they were written."""
        start = after + 1 - self.first
        return self._bodies[start : start + limit]

    async def wait_after(self, after: Seq) -> None:
        """Returns as soon as there is an event after that number."""
        while self.seq <= after:
            await self._added.wait()
