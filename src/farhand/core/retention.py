"""Keeps the journal within its limits: by age, and by its size on the disk; what is done about it is told."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from farhand.core.hub import LocalHub
from farhand.model.errors import StoreError
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

log = get_logger("retention")
DAY_SECONDS = 86_400.0
CHECK_SECONDS = 60.0
PRUNE_EVERY_SECONDS = 6 * 3600.0
# The manager is told of the same thing again after this long.
TOLD_FOR_SECONDS = DAY_SECONDS
MEGABYTE = 1_000_000
# Down to where a journal that has reached its limit is pruned, and up to where agents may fill it when nothing may go.
PRUNED_TO, AGENTS_WAIT_AT = 0.8, 1.25
OVER = (
    "The journal is over {limit}, and what is left belongs to running turns ({running}). {waits} until one of them is "
    "stopped or relaunched, or the limit is raised. What you write is taken all the same."
)
Announce = Callable[[str], Awaitable[None]]


class PrunableJournal(Protocol):
    """A journal from which the past can be removed."""

    async def size(self) -> int:
        """How many bytes it takes on the disk, without what is free in its file."""
        ...

    async def prune(self, before: float) -> int:
        """Removes what is older and of no use to the present; how many events went."""
        ...

    async def shrink(self, most: int) -> int:
        """Removes the oldest until it takes no more bytes, or nothing more may go; how many events went."""
        ...


class Retention:
    """Prunes what is old, and the oldest of a journal that has grown too large. Nothing of the present goes."""

    def __init__(
        self,
        journal: PrunableJournal,
        hub: LocalHub,
        clock: Clock,
        announce: Announce,
        *,
        days: float,
        megabytes: float,
    ) -> None:
        self._journal = journal
        self._hub = hub
        self._clock = clock
        self._announce = announce
        self._days = days
        self._most = int(megabytes * MEGABYTE)
        self._announced_at: dict[str, float] = {}
        self.bytes = 0
        # What stands about it in the status; empty while there is nothing to say.
        self.problem = ""

    async def run(self) -> None:
        """Looks every minute until it is cancelled."""
        pruned_at = self._clock.now()
        while True:
            await self._clock.sleep(CHECK_SECONDS)
            try:
                await self.check()
                if self._clock.now() - pruned_at >= PRUNE_EVERY_SECONDS:
                    pruned_at = self._clock.now()
                    log.info("journal pruned", events=await self._prune_old())
            except StoreError as error:
                log.error("journal not pruned", error=error.text)

    async def check(self) -> None:
        """Prunes a journal that is too large; agents wait while it still is, by far, and people are heard."""
        self.bytes = await self._journal.size()
        if self.bytes > self._most:
            await self._make_room()
        elif not self.problem.startswith("pruned"):
            self.problem = ""
        self._hub.has_room = self.bytes <= self._most * AGENTS_WAIT_AT

    async def _make_room(self) -> None:
        gone = await self._prune_old()
        gone += await self._journal.shrink(int(self._most * PRUNED_TO))
        self.bytes = await self._journal.size()
        log.warning("journal has reached its limit", most=self._most, bytes=self.bytes, events=gone)
        limit = f"its limit of {self._most // MEGABYTE} MB (FARHAND_JOURNAL_MB)"
        if self.bytes <= self._most:
            self.problem = f"pruned at {limit}"
            await self._tell("pruned", f"The journal had reached {limit}: its oldest part was removed.")
            return
        running = ", ".join(sorted(one.name for one in self._hub.present.workers.values() if one.turn)) or "nobody"
        self.problem = f"over {limit}; what is left belongs to turns that run: {running}"
        waits = "Soon agents wait" if self.bytes <= self._most * AGENTS_WAIT_AT else "Agents wait"
        await self._tell(waits, OVER.format(limit=limit, running=running, waits=waits))

    async def _tell(self, kind: str, text: str) -> None:
        now = self._clock.now()
        if now - self._announced_at.get(kind, -TOLD_FOR_SECONDS) >= TOLD_FOR_SECONDS:
            self._announced_at[kind] = now
            await self._announce(text)

    async def _prune_old(self) -> int:
        return await self._journal.prune(self._clock.now() - self._days * DAY_SECONDS)

    def line(self) -> str:
        """How large the journal is, for the status."""
        about = f"{self.bytes / MEGABYTE:.1f} MB"
        return f"{about}, {self.problem}" if self.problem else about
