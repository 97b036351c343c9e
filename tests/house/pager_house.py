"""A house whose manager has a pager: a chat channel that is one folder, and is found by its manifest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
from tests.house.toy_channels.pager.words import PagerLine, screen

from farhand import roster
from farhand.app import Channels
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.testing.house import House
from farhand.testing.http import local_client

ROOT = "tests.house.toy_channels"
SECRET = "known to the pager"


def pager_channels(folder: Path, **variables: str) -> Channels:
    """Whatever channels the folder of toys has, with the pager's screen in that folder."""
    given = {"PAGER_SECRET": SECRET, "PAGER_FILE": str(folder / "screen"), **variables}

    def channels(context: ChannelContext) -> list[Channel]:
        return roster.build_channels(replace(context, variables=given), ROOT)

    return channels


def read_screen(folder: Path) -> list[PagerLine]:
    """What is on the screen now."""
    file = folder / "screen"
    lines = file.read_bytes().splitlines() if file.exists() else []
    return screen([msgspec.json.decode(line, type=PagerLine) for line in lines])


async def post(house: House, secret: str = SECRET, **body: str) -> int:
    """Somebody presses the keys of a pager; the status that comes back."""
    address, headers = f"http://127.0.0.1:{house.node.port}/pager", {"X-Pager-Secret": secret}
    async with local_client() as client:
        return (await client.post(address, json=body, headers=headers)).status_code
