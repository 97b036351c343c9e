"""Runs one call to Telegram whenever something changed, and again with growing pauses while Telegram fails it."""

from collections.abc import Awaitable, Callable

import anyio
from telegram.error import TelegramError

from farhand.model.ports import Clock

LONGEST_PAUSE_SECONDS = 300.0


class WhenChanged:
    """One task. Changes while the call runs, or while it waits to try again, are one more run."""

    def __init__(self, clock: Clock, first_pause_seconds: float) -> None:
        self._clock = clock
        self._first_pause_seconds = first_pause_seconds
        self._changed = anyio.Event()

    def wake(self) -> None:
        """Something changed."""
        self._changed.set()

    async def run(self, call: Callable[[], Awaitable[None]], failed: Callable[[TelegramError], None]) -> None:
        """Calls once at the start, for what changed while the node was down, and after every change."""
        self._changed.set()
        pause = self._first_pause_seconds
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await call()
                pause = self._first_pause_seconds
            except TelegramError as error:
                failed(error)
                self._changed.set()
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
