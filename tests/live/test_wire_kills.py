"""Nothing lost and nothing twice on the live wire: the node is killed and connections are cut under five devices."""

import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.live.killed_node import KilledNode, tmp_path

from farhand.client.door import SocketHub
from farhand.model import road, team_view
from farhand.model.commands import Hire, Say
from farhand.model.errors import NodeError
from farhand.model.present import Present
from farhand.model.team_view import TeamView
from farhand.model.wire import decode_event, encode
from farhand.model.words import Receipt
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.testing.cuttable_proxy import CuttableProxy
from farhand.testing.http import local_client
from farhand.testing.ports import lasting_port
from farhand.testing.wire_phone import Transport, WirePhone

__all__ = ["tmp_path"]
pytestmark = pytest.mark.anyio
WORKERS = ("ann", "bob", "cleo")
TRANSPORTS: tuple[Transport, ...] = ("socket", "stream", "socket", "stream", "socket")
# Half of them at a place of the road, half at any moment. 40 of them take five times as long.
KILLS = int(os.environ.get("FARHAND_WIRE_KILLS", "8"))
# No command comes through the door here, and where every worker is free, no turn begins from the queue.
PLACES = tuple(place for place in road.PLACES if not place.startswith("door.") and place != "worker.turn_started")
# So many messages of each device for every two kills: 500 in all with 40 kills.
A_LIFE = 5
SAFETY_SECONDS = 1500.0


class WireNode(KilledNode):
    """A node in another process, at the same port in each of its lives."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = lasting_port()

    async def start(self, kill_at: str = "") -> None:
        await self.launch("--port", str(self.port), kill_at=kill_at)

    async def door(self, stack: AsyncExitStack) -> SocketHub:
        """Its door, as soon as it opens."""
        while True:
            try:
                return await stack.enter_async_context(SocketHub(self.folder / "test" / "hub.sock"))
            except NodeError:
                await anyio.sleep(0.01)

    async def paired(self) -> str:
        """The key of one more device."""
        async with AsyncExitStack() as stack:
            code = (await (await self.door(stack)).pair()).code
        async with local_client(base_url=f"http://127.0.0.1:{self.port}") as client:
            reply = await client.post("/api/pair", json={"code": code, "name": "phone", "bearer": True})
        return str(reply.json()["key"])

    async def idle(self) -> Present:
        """Waits until nothing is under way."""
        async with AsyncExitStack() as stack:
            hub = await self.door(stack)
            present = await hub.look()
            async for event in hub.watch(after=present.seq - 1):
                present = await hub.look()
                if event.seq == present.seq and not any(one.turn or one.queue for one in present.workers.values()):
                    return present
        raise AssertionError("the journal came to an end")


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[WireNode]:
    made = WireNode(tmp_path)
    yield made
    await made.end()


def said(device: int, first: int, count: int) -> list[Say]:
    words = ("tool", "think", "hello")
    numbers = range(first, first + count)
    return [
        Say(id=f"d{device}-{one:04}", worker=WORKERS[one % len(WORKERS)], text=words[one % 3], anyway=True)
        for one in numbers
    ]


async def say(phone: WirePhone, messages: list[Say], names: list[str]) -> None:
    for message in messages:
        accepted = await phone.send(message)
        names.append(accepted.message)


async def cut_now_and_then(proxies: list[CuttableProxy], chance: random.Random) -> None:
    while True:
        await anyio.sleep(chance.random() * 0.4)
        one = chance.choice(proxies)
        one.cut()
        await anyio.sleep(chance.random() * 0.1)
        one.mend()


@pytest.mark.parametrize("seed", [20261116])
async def test_five_devices_have_the_same_view_as_the_node_after_kills_and_cuts(node: WireNode, seed: int) -> None:
    chance = random.Random(seed)
    async with AsyncExitStack() as stack:
        stack.enter_context(anyio.fail_after(SAFETY_SECONDS))
        await node.start()
        keys = [await node.paired() for _ in TRANSPORTS]
        proxies = [await stack.enter_async_context(CuttableProxy(node.port).opened()) for _ in TRANSPORTS]
        phones = [
            WirePhone(proxy.port, key, transport)
            for proxy, key, transport in zip(proxies, keys, TRANSPORTS, strict=True)
        ]
        connected = await stack.enter_async_context(anyio.create_task_group())
        for phone in phones:
            connected.start_soon(phone.run)
        for worker in WORKERS:
            hired = await phones[0].send(Hire(id=f"hire-{worker}", worker=worker, backend="scripted"))
            for phone in phones:
                await phone.reaches(hired.seq)
        node.kill()
        await node.died()
        messages = await kill_and_say(node, phones, proxies, chance)
        present = await node.idle()
        for phone in phones:
            await phone.reaches(present.seq)
        own = await phones[0].read()
        for phone in phones:
            assert_same(phone.view, own)
            receipts = phone.view.receipts
            assert {receipts[message] for message in messages if message in receipts} <= {Receipt.ANSWERED}
            # Whoever was away for so long that it read the history instead does not know the receipts before that.
            assert phone.gaps > 1 or receipts.keys() >= set(messages)
            # One to the first life of the node, and one to its last.
            assert phone.connections >= 2
        connected.cancel_scope.cancel()
        await node.stop()
    await check_store(node, own, messages)


async def kill_and_say(
    node: WireNode, phones: list[WirePhone], proxies: list[CuttableProxy], chance: random.Random
) -> list[str]:
    """Each life of the node but the last ends by a kill, with messages under way; the names of all messages."""
    names: list[str] = []
    places = [PLACES[number % len(PLACES)] for number in range(KILLS // 2)]
    chance.shuffle(places)
    async with anyio.create_task_group() as cutting:
        cutting.start_soon(cut_now_and_then, proxies, chance)
        async with anyio.create_task_group() as saying:
            for number, place in enumerate(places):
                await node.start(f"{place}:{chance.randint(1, 4)}")
                for device, phone in enumerate(phones):
                    saying.start_soon(say, phone, said(device, number * A_LIFE, A_LIFE), names)
                await node.died()
                await node.start()
                async with AsyncExitStack() as stack:
                    await node.door(stack)
                    await anyio.sleep(chance.random() * 0.4)
                node.kill()
                await node.died()
            await node.start()
        cutting.cancel_scope.cancel()
    for proxy in proxies:
        proxy.mend()
    return names


def assert_same(one: TeamView, other: TeamView) -> None:
    assert one.present == other.present
    assert encode(one.present) == encode(other.present)
    assert encode(one.conversations) == encode(other.conversations)


async def check_store(node: WireNode, own: TeamView, messages: list[str]) -> None:
    """The journal folded from its first event is the same view; every message reached its agent once."""
    database = Database(node.folder / "test" / "farhand.db")
    journal = SqliteJournal(database)
    folded = TeamView()
    for _, body in await journal.read(0, 10_000_000):
        folded = team_view.fold(folded, decode_event(body))
    assert_same(folded, own)
    database.close()
    assert Counter((node.folder / "prompts").read_text().split()) == Counter(messages)
    assert len(set(messages)) == len(TRANSPORTS) * A_LIFE * (KILLS // 2)
