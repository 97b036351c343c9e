"""The conversation that is shown while there is none: it takes no word, and says why."""

from __future__ import annotations

import time
from collections.abc import Callable

from farhand.model.errors import NotReady
from farhand.model.live_session import SessionMessage, SessionStatus
from farhand.remote.log import MemoryLog


class NoSession:
    """Nobody to talk to, for that reason. Its log is empty, and may be told things."""

    def __init__(self, why: str, *, ready: bool = False) -> None:
        self.log = MemoryLog(time.time, SessionStatus(ready=ready))
        self._why = why

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`: all of it is there."""
        del limit
        return False

    async def say(self, *_: object) -> SessionMessage:
        """Raises NotReady."""
        raise NotReady(self._why)

    async def interrupt(self) -> bool:
        """Nothing runs."""
        return False

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """Nobody asks."""

    async def withdraw(self, message: int) -> bool:
        """Nothing waits."""
        del message
        return False

    async def raw(self, keys: str) -> None:
        """Nobody is there."""

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """There is none."""
