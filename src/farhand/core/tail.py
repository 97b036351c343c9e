"""The newest events in memory, so that a watcher who keeps up never touches the disk, and a slow one costs nothing."""

from collections.abc import Sequence

import anyio

from farhand.model.facts import Event
from farhand.model.words import Seq

KEPT = 4096


class Tail:
    """The last few thousand events, as words and as they were written. Numbers are without gaps."""

    def __init__(self, seq: Seq) -> None:
        self.seq = seq
        self._first = seq + 1
        self._events: list[Event] = []
        self._bodies: list[bytes] = []
        self._news = anyio.Event()

    def add(self, events: Sequence[Event], bodies: Sequence[bytes]) -> None:
        """Adds what was just written and wakes whoever waits."""
        if not events:
            return
        self._events.extend(events)
        self._bodies.extend(bodies)
        self.seq = events[-1].seq
        surplus = len(self._events) - 2 * KEPT
        if surplus > 0:
            # Halved at once, so that the cost is paid once in many events.
            del self._events[: surplus + KEPT]
            del self._bodies[: surplus + KEPT]
            self._first = self._events[0].seq
        news, self._news = self._news, anyio.Event()
        news.set()

    def holds(self, after: Seq) -> bool:
        """Whether everything after that number is here."""
        return after + 1 >= self._first

    def events(self, after: Seq, limit: int) -> list[Event]:
        """Events after that number."""
        start = after + 1 - self._first
        return self._events[start : start + limit]

    def bodies(self, after: Seq, limit: int) -> list[bytes]:
        """The same, as they were written."""
        start = after + 1 - self._first
        return self._bodies[start : start + limit]

    async def news(self, after: Seq) -> None:
        """Returns as soon as there is an event after that number."""
        while self.seq <= after:
            await self._news.wait()
