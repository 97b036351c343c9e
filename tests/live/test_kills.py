"""Nothing lost, nothing twice: the node is killed at every place of the road and by time, with work in flight."""

import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from tests.live.killed_node import KilledNode, tmp_path

from farhand.client.door import SocketHub
from farhand.model import road
from farhand.model.commands import Command, Hire, Say
from farhand.model.errors import NodeError
from farhand.model.facts import Event, Fact
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.wire import decode_event
from farhand.model.words import Receipt, Sender
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.testing import ledger

__all__ = ["tmp_path"]
pytestmark = pytest.mark.anyio
WORKERS = ("ann", "bob", "cleo", "dan", "eve")
MESSAGES = 500
KILLS_BY_TIME = 10
ME = Sender(via="test")
SAFETY_SECONDS = 1500.0


class World(KilledNode):
    """A node in another process, and everything around it that outlives its kills."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.door = folder / "test" / "hub.sock"

    async def start(self, kill_at: str = "") -> None:
        await self.launch(kill_at=kill_at)

    @asynccontextmanager
    async def hub(self) -> AsyncIterator[SocketHub]:
        while True:
            try:
                async with SocketHub(self.door) as opened:
                    yield opened
                return
            except NodeError:
                await anyio.sleep(0.01)

    async def send(self, *commands: Command) -> None:
        """As a channel does: each again and again with the same id, until the node says that it has it."""
        waiting = list(commands)
        while waiting:
            try:
                async with SocketHub(self.door) as hub:
                    while waiting:
                        await hub.send(waiting[0], ME)
                        del waiting[0]
            except NodeError:
                await anyio.sleep(0.01)

    async def events_until(self, fact: type[Fact]) -> list[Event]:
        """Everything up to the first fact of that kind."""
        found: list[Event] = []
        async with self.hub() as hub:
            async for event in hub.watch(after=0):
                found.append(event)
                if isinstance(event.fact, fact):
                    return found
        raise AssertionError("the journal came to an end")


def plan(seed: int) -> list[str]:
    """Where and when to kill: every place of the road, and moments by time, in an order of the seed's choosing."""
    chance = random.Random(seed)
    # Few turns begin from the queue, since a free worker begins with the message itself.
    often = {"worker.turn_started": 2}
    kills = [f"{place}:{chance.randint(1, often.get(place, 8))}" for place in road.PLACES] + [""] * KILLS_BY_TIME
    chance.shuffle(kills)
    return kills


def messages(worker: str, first: int, count: int) -> list[Say]:
    words = ("tool", "think", "hello")
    return [
        Say(id=f"{worker}-{number:04}", worker=worker, text=words[number % 3], anyway=True)
        for number in range(first, first + count)
    ]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    yield made
    await made.end()


@pytest.mark.parametrize("seed", [20261115])
async def test_nothing_is_lost_and_nothing_comes_twice(world: World, seed: int) -> None:
    kills = plan(seed)
    each = MESSAGES // len(WORKERS)
    slices = [each // len(kills)] * (len(kills) - 1)
    slices.append(each - sum(slices))
    chance = random.Random(seed)
    with anyio.fail_after(SAFETY_SECONDS):
        await world.start()
        await world.send(*(Hire(id=f"hire-{worker}", worker=worker, backend="scripted") for worker in WORKERS))
        await world.stop()
        said = 0
        for kill_at, count in zip(kills, slices, strict=True):
            await world.start(kill_at)
            async with anyio.create_task_group() as tasks:
                for worker in WORKERS:
                    tasks.start_soon(world.send, *messages(worker, said, count))
                if not kill_at:
                    async with world.hub():
                        await anyio.sleep(chance.random() * 0.2)
                    world.kill()
                await died_or_done(world, (said + count) * len(WORKERS))
                await world.start()
            await idle(world)
            # The next one has its own place to die at.
            await world.stop()
            said += count
        await check(world, each)


async def died_or_done(world: World, prompts: int) -> None:
    """Waits for the node to die. One that never comes to its place so often is killed when all is done: how often
    depends on how many messages share a step, and that on the machine."""
    async with anyio.create_task_group() as tasks:

        async def kill_when_done() -> None:
            path = world.folder / "prompts"
            while not path.exists() or len(path.read_text().split()) < prompts:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.05)
            await idle(world)
            # It may die at its place in this very moment.
            with suppress(ProcessLookupError):
                world.kill()

        tasks.start_soon(kill_when_done)
        await world.died()
        tasks.cancel_scope.cancel()


async def idle(world: World) -> None:
    """Waits until nothing is under way."""
    while True:
        async with world.hub() as hub:
            present = await hub.look()
            if not any(worker.turn or worker.queue for worker in present.workers.values()):
                return
            async for _ in hub.watch(after=max(0, present.seq - 1)):
                break
            await anyio.sleep(0.01)


async def check(world: World, each: int) -> None:
    expected = {worker: [f"test:{worker}-{number:04}" for number in range(each)] for worker in WORKERS}
    prompts = (world.folder / "prompts").read_text().split()
    for worker in WORKERS:
        assert [prompt for prompt in prompts if f":{worker}-" in prompt] == expected[worker]
    await world.start()
    async with world.hub():
        # All may be sent already: a node that is stopped before it listens for a stop just ends.
        pass
    keys = {f"answer:{worker}:{message}" for worker in WORKERS for message in expected[worker]}
    while {line.key for line in ledger.read(world.folder / "sent")} != keys:  # noqa: ASYNC110 - a file tells nobody
        await anyio.sleep(0.01)
    await world.stop()
    sent = ledger.read(world.folder / "sent")
    assert all(line.text == f"answer to {line.key.split(':', 2)[2]}" for line in sent)
    for chat in WORKERS:
        repeated = [count - 1 for count in Counter(line.key for line in sent if line.chat == chat).values()]
        assert sum(repeated) <= world.kills
        firsts = list(dict.fromkeys(line.key for line in sent if line.chat == chat))
        assert firsts == [f"answer:{chat}:{message}" for message in expected[chat]]
    await check_store(world, expected)


async def check_store(world: World, expected: dict[str, list[str]]) -> None:
    database = Database(world.folder / "test" / "farhand.db")
    journal = SqliteJournal(database)
    folded = Present()
    for _, body in await journal.read(0, 10_000_000):
        folded = fold(folded, decode_event(body))
    assert await journal.load() == folded
    receipts = await journal.receipts()
    assert {receipts[message] for messages in expected.values() for message in messages} == {Receipt.ANSWERED}
    database.close()
