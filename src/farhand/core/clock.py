"""The machine's own time."""

import time

import anyio


class SystemClock:
    """Time as the machine has it."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Sleeps that long."""
        await anyio.sleep(max(0.0, seconds))
