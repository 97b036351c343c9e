"""A terminal shows the QR code for a phone as soon as a way in is open, and says how to get one where there is none."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from farhand.cli.app_link import NO_WAY_IN, greet_phone
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio


class Terminal:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._told = anyio.Event()

    def tell(self, line: str) -> None:
        self.lines.append(line)
        told, self._told = self._told, anyio.Event()
        told.set()

    async def shows(self, count: int) -> list[str]:
        """The lines, once there are so many."""
        with anyio.fail_after(SAFETY_SECONDS):
            while len(self.lines) < count:
                await self._told.wait()
        return self.lines


async def opened(house: House) -> Terminal:
    terminal = Terminal()
    greet_phone(house.node, terminal.tell)
    return terminal


async def test_without_a_way_in_one_sentence_says_what_to_run(tmp_path: Path) -> None:
    async with open_house(tmp_path, ScriptedDriver()) as house:
        terminal = await opened(house)
        assert await terminal.shows(1) == [NO_WAY_IN.format(node="test")]
        assert "farhand restart --node test --reach cloudflared" in terminal.lines[0]


async def test_a_way_in_that_opens_later_brings_a_code_that_pairs_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, ScriptedDriver()) as house:
        terminal = await opened(house)
        await terminal.shows(1)
        house.node.tell_way_in("https://quiet-fox.example")
        house.node.tell_way_in("https://quiet-fox.example")
        _, link, picture = await terminal.shows(3)
        address, _, code = link.removeprefix("On a phone: ").partition("#pair=")
        assert address == "https://quiet-fox.example/app/"
        assert "█" in picture
        assert house.node.devices is not None
        device, _ = await house.node.devices.pair(code, "phone")
        assert device.name == "phone"
        house.node.tell_way_in("https://other-fox.example")
        assert (await terminal.shows(5))[3].startswith("On a phone: https://other-fox.example/app/#pair=")
        assert len(terminal.lines) == 5, "an address is shown once"
