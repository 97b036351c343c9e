"""Telegram's figures: a message in, an answer out, the first sign of life, and what a node with Telegram costs."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.facts import Fact, Said, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.words import HowEnded
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, FakeTelegram, Person, telegram_process

ROUNDS = 40
MANAGER = 4242


@dataclass(frozen=True)
class Row:
    """A figure beside its floor or its limit."""

    name: str
    value: float
    unit: str
    floor: float
    gate: float
    # A gate on the value itself, where there is no floor to stand beside.
    absolute: bool = False

    @property
    def ratio(self) -> float:
        return self.value / self.floor if self.floor else 0.0

    @property
    def passes(self) -> bool:
        return (self.value if self.absolute else self.ratio) <= self.gate


class TimedDriver(ScriptedDriver):
    """Notes when a message was handed over."""

    def __init__(self) -> None:
        super().__init__()
        self.handed: list[float] = []
        self.told = anyio.Event()

    def default(self, _: Deliver) -> tuple[Fact, ...]:
        self.handed.append(time.time())
        told, self.told = self.told, anyio.Event()
        told.set()
        # The turn goes on until the measurement ends it.
        return ()


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def conversation(house: House, agent: TimedDriver, bot: FakeBot, manager: Person) -> list[Row]:
    """Messages one after the other, each with its floor: a bare round trip to the same fake."""
    await house.hire()
    floors: list[float] = []
    incoming: list[float] = []
    feedback: list[float] = []
    outgoing: list[float] = []
    for number in range(ROUNDS):
        floors.append(await timed(bot.standing))
        told = agent.told
        started = time.time()
        await manager.says(f"message {number}")
        await told.wait()
        incoming.append(agent.handed[-1] - started)
        await manager.reads("ann is")
        calls = await bot.calls("sendMessage")
        feedback.append(calls[-1].at - started)
        # A turn lasts longer than the first sign of it: what was under way has arrived when the last fact comes.
        await manager.sees(lambda chat: [one for one in chat if not one.from_bot][-1].reactions)
        await house.node.channels[0].drain()  # type: ignore[attr-defined]
        link = agent.links["ann"]
        await link.say(Said(text=f"answer {number}."))
        ended = time.time()
        await link.say(TurnEnded(how=HowEnded.COMPLETED))
        await manager.reads(f"answer {number}.")
        calls = await bot.calls("sendMessage")
        outgoing.append(next(call.at for call in reversed(calls) if "answer" in call.parameters["text"]) - ended)
        await manager.sees(lambda chat: not any("ann is" in one.text and not one.deleted for one in chat))
    floor = statistics.median(floors) * 1000
    return [
        Row("telegram: message → handed to the worker", statistics.median(incoming) * 1000, "ms", floor, 10),
        Row("telegram: last fact → sendMessage on the wire", statistics.median(outgoing) * 1000, "ms", floor, 10),
        Row("telegram: first feedback on the phone", statistics.median(feedback) * 1000, "ms", floor, 100, True),
    ]


async def cost_of_a_node(bot: FakeBot, folder: Path) -> list[Row]:
    """A node of its own with Telegram: how long until it hears, and how much memory it takes."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TELEGRAM_BOT_TOKEN": bot.token,
        "TELEGRAM_API_URL": bot.address,
    }
    command = [sys.executable, "-m", "farhand", "run", "--node", "bench", "-p", "0", "--no-tunnel", "--headless", "-q"]
    starts: list[float] = []
    memory = 0.0
    for _ in range(3):
        started = time.perf_counter()
        async with await anyio.open_process(command, env=environment, cwd=folder) as process:
            await bot.until_standing(lambda standing: standing.polling, seconds=30)
            starts.append(time.perf_counter() - started)
            memory = resident_megabytes(process.pid)
            process.terminate()
            await process.wait()
        await bot.until_standing(lambda standing: not standing.polling)
    bare = await timed(lambda: anyio.run_process([sys.executable, "-c", "pass"]))
    return [
        Row("telegram: node start until it hears", statistics.median(starts) * 1000, "ms", bare * 1000, 1500, True),
        Row("telegram: memory of a node", memory, "MB", 0, 120, True),
    ]


def resident_megabytes(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


async def measure() -> list[Row]:
    """All rows; the fake Telegram runs in a process of its own, as Telegram does."""
    with telegram_process() as address, tempfile.TemporaryDirectory() as name:
        async with FakeTelegram(address) as telegram:
            bot, folder = await telegram.new_bot(), Path(name)
            agent = TimedDriver()

            def channels(context: ChannelContext) -> list[Channel]:
                # What waits for its turn at Telegram's pace says nothing about the way there.
                limits = RateLimits(chat_burst=1000, per_second=10_000.0)
                return [TelegramChannel(TelegramSettings(bot.token, address, limits=limits), context)]

            async with open_house(folder, agent, SystemClock(), channels) as house:
                rows = await conversation(house, agent, bot, bot.person(MANAGER))
            return rows + await cost_of_a_node(await telegram.new_bot(), folder)


def main() -> int:
    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    rows = anyio.run(measure)
    for row in rows:
        beside = "" if row.absolute else f"  floor {row.floor:.2f} {row.unit}, ratio {row.ratio:.1f}"
        print(
            f"{'ok  ' if row.passes else 'OVER'} {row.name:48} {row.value:8.2f} {row.unit}  gate {row.gate:g}{beside}"
        )
    return 0 if all(row.passes for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
