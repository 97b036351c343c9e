"""A queue of events between a running turn and its reader, with backpressure: the turn never runs ahead."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.events import Event


class EventStream:
    """`give` blocks until the event was taken. After `close` events are dropped without waiting."""

    def __init__(self) -> None:
        self._events: deque[Event | None] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self.closed = False

    async def give(self, event: Event) -> None:
        """Offers an event and waits until it is taken."""
        if self.closed:
            return
        self.put(event)
        while event in self._events and not self.closed:
            self._taken.clear()
            await self._taken.wait()

    def put(self, event: Event | None) -> None:
        """Offers an event without waiting; `None` says that there are no more."""
        self._events.append(event)
        self._arrived.set()

    async def take(self) -> Event | None:
        """The next event, or `None` at the end."""
        while not self._events:
            self._arrived.clear()
            await self._arrived.wait()
        event = self._events.popleft()
        self._taken.set()
        return event

    def close(self) -> None:
        """The reader is gone."""
        self.closed = True
        self._events.clear()
        self._taken.set()
