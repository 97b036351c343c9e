"""A counter that many can wait on: every change rings it, and nobody has to sleep."""

from __future__ import annotations

import anyio


class Bell:
    """Counts changes; a waiter names the count it has seen and wakes at the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._rung = anyio.Event()

    def ring(self) -> None:
        self.count += 1
        rung, self._rung = self._rung, anyio.Event()
        rung.set()

    async def wait(self, seen: int, seconds: float) -> bool:
        """True once the count is past what was seen, False when the seconds are over first."""
        with anyio.move_on_after(max(0.0, seconds)):
            while self.count <= seen:
                await self._rung.wait()
        return self.count > seen
