"""The bench of floods ends the agents that its node has started."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from bench import flood
from tests.interrupted import names, processes

from farhand.model.commands import Hire
from farhand.testing.ports import lasting_port
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def of(folder: Path) -> list[int]:
    """The processes that name this folder."""
    return [pid for pid in processes() if names(pid, [str(folder).encode()])]


async def test_the_workers_of_a_flood_end_with_its_node(short_folder: Path, bot: FakeBot) -> None:
    with anyio.fail_after(240):
        async with flood.node(short_folder, lasting_port(), bot) as hub:
            await hub.send(Hire(id="hire", worker="ann", backend="scripted"), flood.ME)
            while not (await hub.look()).workers["ann"].online:  # noqa: ASYNC110
                await anyio.sleep(0.05)
            assert len(of(short_folder)) > 1, "the node and what holds the agent"
        while of(short_folder):  # noqa: ASYNC110
            await anyio.sleep(0.05)
