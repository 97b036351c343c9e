"""A clock that stands still until a test moves it."""

import anyio
import anyio.lowlevel

# Only a net for a test that hangs.
SAFETY_SECONDS = 240.0


class ManualClock:
    """Time that passes only when a test says so."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, anyio.Event]] = []

    def now(self) -> float:
        """The time as the test set it."""
        return self._now

    @property
    def sleepers(self) -> int:
        """How many wait for time to pass."""
        return len(self._sleepers)

    async def until_asleep(self, count: int) -> None:
        """Returns when so many wait for time to pass."""
        with anyio.fail_after(SAFETY_SECONDS):
            while self.sleepers < count:
                await anyio.lowlevel.checkpoint()

    async def sleep(self, seconds: float) -> None:
        """Returns when the test has moved the clock that far."""
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        woken = anyio.Event()
        entry = (self._now + seconds, woken)
        self._sleepers.append(entry)
        try:
            await woken.wait()
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)

    def advance(self, seconds: float) -> None:
        """Moves the clock and wakes whoever has slept long enough."""
        self._now += seconds
        due = [entry for entry in self._sleepers if entry[0] <= self._now]
        for entry in due:
            self._sleepers.remove(entry)
            entry[1].set()
