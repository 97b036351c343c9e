"""The supervisor with a real tunnel process that misbehaves, a real probe, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.live.reach.stand_ins import Cloudflared

from farhand.model.reach import ReachMode
from farhand.reach.address import TunnelAddress
from farhand.reach.choose import ReachOptions, choose
from farhand.reach.supervisor import CHECK_SECONDS, FIRST_PAUSE_SECONDS, MOST_FAILURES, ReachSupervisor
from farhand.reach.way import LOOK_SECONDS, OPEN_SECONDS
from farhand.testing.clock import ManualClock
from farhand.testing.models.server import served

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0


async def health(_request: Request) -> JSONResponse:
    """As the node answers."""
    return JSONResponse({"ok": True})


class Tunnel:
    """A supervisor at work, the program that it supervises, and what the manager was told."""

    def __init__(self, folder: Path) -> None:
        self.cloudflared = Cloudflared(folder / "programs")
        self.clock = ManualClock()
        self.address = TunnelAddress()
        self.told: list[str] = []
        self._folder = folder

    async def run(self, target: str) -> None:
        """Until it is cancelled."""
        environment = {"PATH": self.cloudflared.path}
        options = ReachOptions(ReachMode.CLOUDFLARED, self._folder, target, environment=environment)
        way = await choose(options, self.clock)
        assert way is not None
        await ReachSupervisor(way, self.address, self.clock, self._tell).run()

    async def _tell(self, text: str) -> None:
        self.told.append(text)

    async def until(self, holds: Callable[[], object], step: float = 0.0) -> None:
        """Waits for it; with a step, time passes whenever somebody waits for time to pass."""
        with anyio.fail_after(SAFETY_SECONDS):
            while not holds():
                await anyio.sleep(0.01)
                if step and self.clock.sleepers and not holds():
                    self.clock.advance(step)

    async def until_up(self, starts: int) -> str:
        """The address, once the program has told it at so many starts: no time passes before that."""
        log = self._folder / "tunnel.log"
        await self.until(lambda: log.exists() and log.read_text().count("Registered tunnel") == starts)
        await self.until(lambda: self.address.url, LOOK_SECONDS)
        return self.address.url


@asynccontextmanager
async def supervised(folder: Path, how: str) -> AsyncIterator[Tunnel]:
    """A tunnel whose program behaves so, to a server that answers as the node does; nothing of it is left."""
    tunnel = Tunnel(folder)
    tunnel.cloudflared.behave(how)
    try:
        async with (
            served(Starlette(routes=[Route("/healthz", health)])) as target,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(tunnel.run, target)
            yield tunnel
            tasks.cancel_scope.cancel()
        assert tunnel.cloudflared.alive == []
    finally:
        tunnel.cloudflared.end()


async def test_a_tunnel_that_lives_and_cannot_be_reached_is_ended_and_started_anew(tmp_path: Path) -> None:
    async with supervised(tmp_path, "up") as tunnel:
        first = await tunnel.until_up(1)
        (process,) = tunnel.cloudflared.alive
        tunnel.cloudflared.behave("unreachable")
        before = tunnel.clock.now()
        await tunnel.until(lambda: tunnel.told, CHECK_SECONDS)
        assert tunnel.told[0].startswith(f"⚠ Tunnel down: {first} cannot be reached: The address answers 530.\n")
        assert tunnel.clock.now() - before == CHECK_SECONDS * MOST_FAILURES
        # It ran all the time.
        assert process not in tunnel.cloudflared.alive
        assert len(tunnel.cloudflared.starts) == 1
        tunnel.cloudflared.behave("up")
        await tunnel.clock.until_asleep(1)
        tunnel.clock.advance(FIRST_PAUSE_SECONDS)
        second = await tunnel.until_up(2)
        assert second != first
        await tunnel.until(lambda: len(tunnel.told) == 2)
        assert tunnel.told[1] == f"Tunnel up again: {second}"


async def test_a_tunnel_that_tells_no_address_in_time_is_ended(tmp_path: Path) -> None:
    async with supervised(tmp_path, "silent") as tunnel:
        await tunnel.until(lambda: tunnel.cloudflared.alive)
        before = tunnel.clock.now()
        await tunnel.until(lambda: tunnel.told, LOOK_SECONDS)
        assert tunnel.told[0].startswith("⚠ Tunnel down: cloudflared told no address in time.")
        assert tunnel.clock.now() - before >= OPEN_SECONDS - LOOK_SECONDS
        assert tunnel.address.url == ""
        assert tunnel.cloudflared.alive == []
