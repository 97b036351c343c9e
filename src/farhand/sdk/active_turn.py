"""The one turn that runs in a session: a task that performs it, and whoever reads its events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from farhand.sdk.event_stream import EventStream
from farhand.sdk.events import Event, Finish

_DETAILS = {
    "interrupted": "The person interrupted the turn.",
    "paused": "The turn waits for an answer, and can be gone on with.",
}


class ActiveTurn:
    """Owns the task of a turn. The task ends with its reader, whichever way the reader leaves."""

    def __init__(self, name: str, perform: Callable[[], Awaitable[None]], said: Callable[[], str]) -> None:
        self._said = said
        self._events = EventStream()
        self._interrupted = False
        self._ending: Literal["interrupted", "paused"] = "interrupted"
        self._finished = False
        self._task = asyncio.create_task(self._run(perform), name=name)
        self._task.add_done_callback(lambda _: self._events.put(None))

    async def _run(self, perform: Callable[[], Awaitable[None]]) -> None:
        try:
            await perform()
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            if not self._finished:
                await self.emit(Finish(self._ending, self._said(), _DETAILS[self._ending]))

    async def emit(self, event: Event) -> None:
        """Gives an event to the reader and waits until it was taken (backpressure)."""
        self._finished = self._finished or isinstance(event, Finish)
        await self._events.give(event)

    async def next_event(self) -> Event | None:
        """The next event; None at the end. Raises what made the task fail."""
        event = await self._events.take()
        if event is None:
            await self._task
        return event

    def interrupt(self, ending: Literal["interrupted", "paused"] = "interrupted") -> bool:
        """Ends the turn with a `Finish` that says so. Twice is once."""
        if self._task.done():
            return False
        if not self._interrupted:
            self._interrupted, self._ending = True, ending
            self._task.cancel()
        return True

    async def abandon(self) -> None:
        """Ends the turn without a reader."""
        self._events.close()
        if self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait([self._task])
