"""Two nodes side by side, each with a tunnel: tunnel and node of one are killed, which is seen and healed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.live.reach.stand_ins import Cloudflared
from tests.live.reach.test_reach_tunnel import SAFETY_SECONDS, Desk

from farhand.sandbox.holders import LocalHolders
from farhand.testing.leftovers import end_agents
from farhand.testing.ports import lasting_port
from farhand.testing.telegram import FakeBot, FakeTelegram

pytestmark = pytest.mark.anyio


class NodeDesk(Desk):
    """A desk at one of several nodes of the same home."""

    def __init__(self, home: Path, bot: FakeBot, cloudflared: Cloudflared, node: str) -> None:
        super().__init__(home, bot, cloudflared, node)
        self.port = str(lasting_port())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[anyio.abc.Process]:
        """Its node, on its own port."""
        async with self.node(port=self.port) as process:
            yield process


async def statuses(desk: Desk) -> dict[str, dict[str, object]]:
    """What `status --all --json` tells of each node."""
    lines = (await desk.farhand("status", "--all", "--json"))[1].splitlines()
    return {said["node"]: said for said in map(json.loads, lines)}


async def kill_agent(desk: NodeDesk) -> None:
    """`kill -9` of the worker's own program; returns when the journal has seen it go and come back."""
    holders = LocalHolders(desk.folder / "holders")
    found = await holders.attach((await holders.names())[0])
    assert found is not None
    before = len(await facts(desk))
    async with found as held:
        os.kill((await held.status()).pid, signal.SIGKILL)
    with anyio.fail_after(SAFETY_SECONDS):
        while not {"went_offline", "came_online"} <= set((await facts(desk))[before:]):  # noqa: ASYNC110
            await anyio.sleep(0.1)


async def facts(desk: NodeDesk) -> list[str]:
    """What happened so far, by its kinds."""
    lines = (await desk.farhand("events", "-n", desk.name))[1].splitlines()
    return [json.loads(line)["fact"]["type"] for line in lines]


async def test_tunnel_node_and_worker_of_one_are_killed_and_the_other_notices_nothing(
    tmp_path: Path, telegram_address: str
) -> None:
    cloudflared = Cloudflared(tmp_path / "programs")
    try:
        async with FakeTelegram(telegram_address) as telegram:
            dev = NodeDesk(tmp_path, await telegram.new_bot(), cloudflared, "dev")
            test = NodeDesk(tmp_path, await telegram.new_bot(), cloudflared, "test")
            async with test.running():
                async with dev.running() as process:
                    first, other = await dev.until_called(), await test.until_called()
                    await dev.talks("spoken to dev")
                    await test.talks("spoken to test")
                    said = await statuses(dev)
                    assert said["dev"]["reach"]["url"] == first  # type: ignore[index]
                    assert said["test"]["reach"]["url"] == other  # type: ignore[index]

                    os.kill(int(dev.read("tunnel.pid").split()[0]), signal.SIGKILL)
                    second = await dev.until_called(other_than=first)
                    await dev.talks("after the tunnel")

                    process.kill()
                    await process.wait()
                said = await statuses(test)
                assert (said["dev"]["running"], said["test"]["running"]) == (False, True)
                await dev.manager.says("while it was down")
                async with dev.running():
                    await dev.manager.reads("while it was down")
                    await dev.until(lambda: dev.read("tunnel_url") == second, "the tunnel was not taken over")
                    await dev.talks("after the node")
                    said = await statuses(test)
                    assert (said["dev"]["running"], said["test"]["running"]) == (True, True)

                    await kill_agent(dev)
                    await dev.talks("after the worker")
                    assert len(cloudflared.alive) == 2
                # The other one noticed nothing of all this.
                assert (test.read("tunnel_url"), await test.until_called()) == (other, other)
                await test.talks("still here")
    finally:
        with anyio.CancelScope(shield=True):
            cloudflared.end()
            await end_agents(tmp_path)
