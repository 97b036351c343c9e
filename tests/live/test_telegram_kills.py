"""Nothing lost, nothing twice, through Telegram: the node is killed at every place of the road and by time."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.live.killed_node import KilledNode, tmp_path

from farhand.model import road
from farhand.testing.ports import lasting_port
from farhand.testing.telegram import FakeBot, ShownMessage, drawn

__all__ = ["tmp_path"]
pytestmark = pytest.mark.anyio
WORKERS = ("ann", "bob", "cleo", "dan", "eve")
MESSAGES = 500
KILLS_BY_TIME = 6
MANAGER = 4242
SAFETY_SECONDS = 1500.0


class World(KilledNode):
    """A node in another process, to be killed, and the Telegram that outlives it."""

    def __init__(self, folder: Path, bot: FakeBot, *, public: bool) -> None:
        super().__init__(folder)
        self.bot = bot
        self.public = public
        self.port = lasting_port()
        self.manager = bot.person(MANAGER, "Mo")
        self.said: dict[str, list[int]] = {worker: [] for worker in WORKERS}

    def name(self, message: int) -> str:
        """The id under which the agent knows a message."""
        return f"telegram:m:{self.bot.token.partition(':')[0]}:{MANAGER}:{message}"

    async def start(self, kill_at: str = "") -> None:
        arguments = ["--port", str(self.port), "--telegram", f"{self.bot.address},{self.bot.token}"]
        before = len(await self.bot.calls("getMe"))
        await self.launch(*arguments, *(["--public"] if self.public else []), kill_at=kill_at)
        if not kill_at:
            await self.bot.until_calls(lambda calls: len(calls) > before, "getMe", seconds=60)

    async def died_or_done(self) -> None:
        """Waits for the node to die; one that never comes to its place so often is killed when all is done."""
        async with anyio.create_task_group() as tasks:

            async def kill_when_done() -> None:
                await self.answered()
                self.kill()

            tasks.start_soon(kill_when_done)
            await self.died()
            tasks.cancel_scope.cancel()

    async def speak(self, count: int) -> None:
        """A burst to every worker; nobody waits for an answer."""
        for number in range(count):
            for worker in WORKERS:
                text = ("tool", "think", "hello")[number % 3]
                spoken = await self.manager.says(f"@{worker} {text}")
                self.said[worker].append(spoken.message_id)

    async def answered(self) -> tuple[ShownMessage, ...]:
        """The chat, once every message has its answer."""
        wanted = {f"answer to {self.name(one)}" for ids in self.said.values() for one in ids}

        def holds(chat: tuple[ShownMessage, ...]) -> bool:
            return wanted <= {answer_of(one) for one in chat}

        return await self.bot.until_chat(MANAGER, holds, seconds=240)


def answer_of(message: ShownMessage) -> str:
    """The answer in a message of the bot, if it is one."""
    if not message.from_bot or message.silent or "answer to" not in message.text:
        return ""
    return message.text[message.text.rindex("answer to") :].strip()


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path, bot: FakeBot, public: bool) -> None:
    chance = random.Random(20261115)
    kills = [f"{place}:{chance.randint(1, 4)}" for place in road.PLACES] + [""] * KILLS_BY_TIME
    chance.shuffle(kills)
    each = MESSAGES // len(WORKERS) // len(kills) + 1
    world = World(tmp_path, bot, public=public)
    try:
        await killed_again_and_again(world, kills, each, chance)
    finally:
        await world.end()


async def killed_again_and_again(world: World, kills: list[str], each: int, chance: random.Random) -> None:
    with anyio.fail_after(SAFETY_SECONDS):
        await world.start()
        for worker in WORKERS:
            await world.manager.says(f"/hire {worker} --backend scripted")
            await world.manager.reads(f"{worker.capitalize()} is added")
        await world.stop()
        for kill_at in kills:
            if chance.random() < 0.5:
                # What is said while the node is down is obeyed after.
                await world.speak(each)
                await world.start(kill_at)
            else:
                await world.start(kill_at)
                await world.speak(each)
            if not kill_at:
                await anyio.sleep(0.4 + chance.random() * 0.6)
                world.kill()
            await world.died_or_done()
            await world.start()
            chat = await world.answered()
            await world.stop()
        check(world, chat)


def check(world: World, chat: tuple[ShownMessage, ...]) -> None:
    prompts = (world.folder / "prompts").read_text().split()
    for worker, ids in world.said.items():
        wanted = [world.name(one) for one in ids]
        assert [one for one in prompts if one in set(wanted)] == wanted, worker
        told = [answer_of(one) for one in chat if answer_of(one).removeprefix("answer to ") in set(wanted)]
        assert list(dict.fromkeys(told)) == [f"answer to {one}" for one in wanted]
    counts = Counter(answer_of(one) for one in chat if answer_of(one))
    assert max(counts.values()) <= 2
    assert sum(count - 1 for count in counts.values()) <= world.kills, drawn(chat)
    left = [one for one in chat if one.text.startswith(WORKERS) and one.silent and not one.deleted and one.buttons]
    assert len(left) <= world.kills, drawn(left)
