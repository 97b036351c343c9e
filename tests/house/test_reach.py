"""A way in is kept open: it is opened anew when it ends or leads nowhere, and the manager is told, not pestered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from farhand.model.errors import ReachFailed
from farhand.reach.address import TunnelAddress
from farhand.reach.supervisor import CHECK_SECONDS, MOST_FAILURES, TELL_SECONDS, ReachSupervisor
from farhand.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


class ScriptedWay:
    """A way in whose fate the test decides; every opening has another address."""

    name = "quick tunnel"

    def __init__(self, *, is_public: bool = True) -> None:
        self.is_public = is_public
        self.opened = 0
        self.closed = 0
        self.refuses = ""
        self.unreachable = ""
        self._end = anyio.Event()

    async def open(self) -> str:
        if self.refuses:
            raise ReachFailed(self.refuses)
        self.opened += 1
        self._end = anyio.Event()
        return f"https://t{self.opened}.example"

    def end(self) -> None:
        self._end.set()

    async def ended(self) -> str:
        await self._end.wait()
        return "cloudflared ended (exit code 1)."

    async def check(self) -> str:
        return self.unreachable

    async def close(self) -> None:
        self.closed += 1


class Scene:
    """A supervisor at work, its clock, and what the manager was told."""

    def __init__(self, way: ScriptedWay) -> None:
        self.way = way
        self.clock = ManualClock()
        self.address = TunnelAddress()
        self.told: list[str] = []
        self.supervisor = ReachSupervisor(way, self.address, self.clock, self._tell)

    async def _tell(self, text: str) -> None:
        self.told.append(text)

    async def settle(self) -> None:
        """Lets everybody do what they can before time passes."""
        for _ in range(20):
            await anyio.lowlevel.checkpoint()

    async def passes(self, seconds: float) -> None:
        """Time passes, a second at a time."""
        for _ in range(int(seconds)):
            self.clock.advance(1)
            await self.settle()


@asynccontextmanager
async def scene(way: ScriptedWay | None = None) -> AsyncIterator[Scene]:
    made = Scene(way or ScriptedWay())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.supervisor.run)
        await made.settle()
        yield made
        tasks.cancel_scope.cancel()


async def test_an_address_is_told_to_those_who_wait_for_it() -> None:
    async with scene() as one:
        assert one.address.url == "https://t1.example"
        assert (one.supervisor.status.state, one.supervisor.status.url) == ("up", "https://t1.example")
        assert one.told == []
    assert (one.address.url, one.way.closed) == ("", 1)


async def test_a_tunnel_that_dies_is_opened_anew_and_that_is_told() -> None:
    async with scene() as one:
        one.way.end()
        await one.settle()
        assert one.address.url == ""
        assert one.told == [
            "⚠ Tunnel down: cloudflared ended (exit code 1).\nIt is being restarted; messages still arrive."
        ]
        assert one.supervisor.status.state == "down"
        await one.passes(2)
        assert one.address.url == "https://t2.example"
        assert one.told[1:] == ["Tunnel up again: https://t2.example"]
        # The old one was closed before the new one was opened.
        assert one.way.closed == 1


async def test_a_tunnel_that_lives_and_leads_nowhere_is_opened_anew() -> None:
    async with scene() as one:
        one.way.unreachable = "The address answers 530."
        await one.passes(CHECK_SECONDS * MOST_FAILURES - 1)
        assert one.told == []
        await one.passes(1)
        assert one.told[0].startswith("⚠ Tunnel down: https://t1.example cannot be reached: The address answers 530.\n")
        one.way.unreachable = ""
        await one.passes(10)
        assert one.address.url == "https://t2.example"


async def test_one_failure_is_no_reason() -> None:
    async with scene() as one:
        for _ in range(4):
            one.way.unreachable = "No connection (ConnectError)."
            await one.passes(CHECK_SECONDS)
            one.way.unreachable = ""
            await one.passes(CHECK_SECONDS)
        assert (one.way.opened, one.told) == (1, [])


async def test_who_could_not_come_is_believed() -> None:
    async with scene() as one:
        one.address.report_unreachable("https://elsewhere.example", "old news")
        await one.settle()
        assert one.address.url == "https://t1.example"
        one.address.report_unreachable("https://t1.example", "Telegram cannot bring its updates: nothing arrives")
        await one.settle()
        assert "nothing arrives" in one.told[0]
        await one.passes(2)
        assert one.address.url == "https://t2.example"


async def test_a_set_up_that_fails_leaves_nothing_and_is_tried_again() -> None:
    way = ScriptedWay()
    way.refuses = "cloudflared ended (exit code 1). It says: 429 Too Many Requests"
    async with scene(way) as one:
        assert (one.address.url, way.closed) == ("", 1)
        assert len(one.told) == 1
        assert "429 Too Many Requests" in one.told[0]
        await one.passes(400)
        # Ever more rarely: after 1, 2, 4 … seconds.
        assert 8 <= way.closed <= 10
        assert len(one.told) == 1
        way.refuses = ""
        await one.passes(300)
        assert one.address.url == "https://t1.example"
        assert one.told[1:] == ["Tunnel up again: https://t1.example"]


async def test_a_fresh_address_that_never_leads_here_is_a_failed_set_up() -> None:
    way = ScriptedWay()
    way.unreachable = "No connection (ConnectError)."
    async with scene(way) as one:
        assert one.address.url == ""
        await one.passes(60)
        assert (way.opened, way.closed) == (1, 1)
        assert "https://t1.example cannot be reached: No connection" in one.told[0]


async def test_a_tunnel_that_comes_and_goes_does_not_pester() -> None:
    async with scene() as one:
        for _ in range(5):
            one.way.end()
            await one.passes(40)
        assert len(one.told) == 2
        await one.passes(TELL_SECONDS)
        one.way.end()
        await one.passes(40)
        assert len(one.told) == 4


async def test_an_address_for_this_network_alone_is_none_for_the_world() -> None:
    async with scene(ScriptedWay(is_public=False)) as one:
        assert one.supervisor.status.url == "https://t1.example"
        assert one.address.url == ""
