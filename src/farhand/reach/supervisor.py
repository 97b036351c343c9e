"""Keeps a way in open: opens it, looks at intervals whether it leads here, and opens it anew when it does not."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

import anyio

from farhand.model.errors import ReachFailed
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.reach import ReachStatus
from farhand.reach.address import TunnelAddress
from farhand.reach.way import Way

log = get_logger("reach")

CHECK_SECONDS = 20.0
# So many failures in a row are no passing weather.
MOST_FAILURES = 3
# A fresh address is not known everywhere at once.
FIRST_CHECKS = 12
FIRST_CHECK_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0
# What was up for so long may be opened anew at once when it goes down.
STEADY_SECONDS = 300.0
# A tunnel that goes up and down is told of this often.
TELL_SECONDS = 600.0
CLOSE_SECONDS = 15.0

# Brings a sentence to the manager's chats.
TellManager: TypeAlias = Callable[[str], Awaitable[None]]


class ReachSupervisor:
    """One way, from the node's start to its end."""

    def __init__(
        self,
        way: Way,
        address: TunnelAddress,
        clock: Clock,
        tell: TellManager,
        opened: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._way = way
        self._address = address
        self._clock = clock
        self._tell = tell
        # Is told each address at which the node can be reached, whoever may come that way.
        self._opened = opened
        self.status = ReachStatus(way=way.name, since=clock.now())
        self._told_at: float | None = None
        self._is_down_told = False

    async def run(self) -> None:
        """Until it is cancelled; then the way is closed."""
        pause = FIRST_PAUSE_SECONDS
        try:
            while True:
                began = self._clock.now()
                why = await self._keep_open()
                self._address.set("")
                pause = FIRST_PAUSE_SECONDS if self._clock.now() - began >= STEADY_SECONDS else pause
                await self._report_down(why)
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        finally:
            self._address.set("")
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
                await self._way.close()

    async def _keep_open(self) -> str:
        """Opens the way and returns why it is closed again; nothing of it is left then."""
        url = ""
        try:
            url = await self._way.open()
            await self._wait_until_reachable()
            await self._report_up(url)
            why = await self._watch()
        except ReachFailed as error:
            why = error.text if not url else f"{url} cannot be reached: {error.text}"
        await self._way.close()
        return why

    async def _wait_until_reachable(self) -> None:
        for _ in range(FIRST_CHECKS):
            why = await self._way.check()
            if not why:
                return
            ended = await self._ended_within(FIRST_CHECK_SECONDS)
            if ended:
                raise ReachFailed(ended)
        raise ReachFailed(why)

    async def _ended_within(self, seconds: float) -> str:
        """Why the way is gone, if it is within that time."""

        async def pass_time() -> str:
            await self._clock.sleep(seconds)
            return ""

        return await first_of(self._way.ended, pass_time)

    async def _watch(self) -> str:
        """Returns why the way must be opened anew: it ended, it does not lead here, or somebody could not come."""
        return await first_of(self._way.ended, self._check_until_unreachable, self._address.complaint)

    async def _check_until_unreachable(self) -> str:
        failures = 0
        while True:
            await self._clock.sleep(CHECK_SECONDS)
            why = await self._way.check()
            failures = failures + 1 if why else 0
            if failures >= MOST_FAILURES:
                return f"{self.status.url} cannot be reached: {why}"

    async def _report_up(self, url: str) -> None:
        self.status = ReachStatus(way=self._way.name, url=url, state="up", since=self._clock.now())
        log.info("reachable", way=self._way.name, url=url)
        self._address.set(url if self._way.is_public else "")
        self._opened(url)
        if self._is_down_told:
            self._is_down_told = False
            await self._tell(f"Tunnel up again: {url}")

    async def _report_down(self, why: str) -> None:
        now = self._clock.now()
        # Since when it is down, not since the last attempt.
        since = self.status.since if self.status.state == "down" else now
        self.status = replace(self.status, url="", state="down", problem=why, since=since)
        log.warning("not reachable", way=self._way.name, why=why)
        if self._told_at is None or (now - self._told_at >= TELL_SECONDS and not self._is_down_told):
            self._told_at, self._is_down_told = now, True
            await self._tell(f"⚠ Tunnel down: {why}\nIt is being restarted; messages still arrive.")


async def first_of(*waiting: Callable[[], Awaitable[str]]) -> str:
    """What the first of them returns; the others are cancelled."""
    found: list[str] = []

    async with anyio.create_task_group() as tasks:

        async def wait(one: Callable[[], Awaitable[str]]) -> None:
            said = await one()
            found.append(said)
            tasks.cancel_scope.cancel()

        for one in waiting:
            tasks.start_soon(wait, one)
    return found[0]
