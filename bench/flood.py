"""A node under load: thousands of slow connections while a team works, and a question behind megabytes of answers.

`FARHAND_BENCH_HOLD_SECONDS=300 python -m bench flood` holds the connections for five minutes."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from bench.rows import Row, beside
from bench.timing import percentile
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.client.door import SocketHub, connect
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire, Respond, Say
from farhand.model.errors import NodeNotRunning
from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import Choice, Sender
from farhand.testing.house import open_house, settings_in
from farhand.testing.leftovers import end_agents
from farhand.testing.ports import lasting_port
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process
from farhand.testing.telegram.words import RecordedCall

CONNECTIONS = 5000
WORKERS = 20
HOLD_SECONDS = float(os.environ.get("FARHAND_BENCH_HOLD_SECONDS", "30"))
# Between two rounds of the team: every worker gets a message in each.
ROUND_SECONDS = 1.0
ANSWERS, ANSWER_CHARACTERS = 40, 100_000
MANAGER = 4242
ME = Sender(via="bench")
SAFETY_SECONDS = 120.0
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))


@dataclass
class Times:
    """What was measured in one stretch, in milliseconds."""

    looks: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    phone: list[float] = field(default_factory=list)


async def measure() -> list[Row]:
    """The figures of both floods."""
    with telegram_process() as address:
        async with FakeTelegram(address) as telegram:
            rows = await slow_connections(await telegram.new_bot())
            return [*rows, await behind_answers(await telegram.new_bot())]


async def slow_connections(bot: FakeBot) -> list[Row]:
    """The team at work, in quiet and with all those connections held, in the same run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        port = lasting_port()
        async with node(Path(name), port, bot) as hub, crew(hub, bot):
            await stretch(hub, bot, 3.0)
            quiet = await stretch(hub, bot, max(10.0, HOLD_SECONDS / 5))
            async with attackers(port) as held:
                loaded = await stretch(hub, bot, HOLD_SECONDS)
            again = await stretch(hub, bot, max(10.0, HOLD_SECONDS / 5))
    note = f"{CONNECTIONS} clients, {HOLD_SECONDS:.0f} s: at most {held['most']} held, {held['opened']} opened"
    return [
        p99("door: a look at the team, p99 under slow connections", quiet.looks + again.looks, loaded.looks, note),
        p99("door: a turn of one of 20 workers, p99", quiet.turns + again.turns, loaded.turns),
        p99("telegram: message → answer on the phone, p99", quiet.phone + again.phone, loaded.phone),
    ]


def p99(name: str, quiet: list[float], loaded: list[float], note: str = "") -> Row:
    """The slowest but one in a hundred, beside that of the quiet stretches of the same run."""
    medians = f"medians {statistics.median(loaded):.1f} and {statistics.median(quiet):.1f} ms, {len(loaded)} samples"
    told = f"{note}; {medians}" if note else medians
    return beside(name, percentile(loaded, 0.99), "ms", "quiet", percentile(quiet, 0.99), 2.0, told)


@asynccontextmanager
async def node(folder: Path, port: int, bot: FakeBot) -> AsyncIterator[SocketHub]:
    """A node in a process of its own, with the demo's driver and Telegram."""
    command = [sys.executable, "-m", "farhand.testing.node", str(folder), "--port", str(port)]
    command += ["--telegram", f"{bot.address},{bot.token}"]
    async with await anyio.open_process(command, stdin=subprocess.DEVNULL, stdout=None, stderr=None) as process:
        try:
            await until_open(door_of(folder))
            async with SocketHub(door_of(folder)) as hub:
                yield hub
        finally:
            process.terminate()
            await process.wait()
            await end_agents(folder)


def door_of(folder: Path) -> Path:
    """The socket of the hub of the node that runs in that folder."""
    return settings_in(folder).door


async def until_open(door: Path) -> None:
    """Returns when the door can be knocked at."""
    with anyio.fail_after(SAFETY_SECONDS):
        while True:
            try:
                connect(door).close()
            except NodeNotRunning:
                await anyio.sleep(0.05)
            else:
                return


@asynccontextmanager
async def crew(hub: SocketHub, bot: FakeBot) -> AsyncIterator[None]:
    """Twenty workers that are online, and a manager whom the bot knows."""
    for number in range(WORKERS):
        await hub.send(Hire(id=f"hire-{number}", worker=f"w{number}", backend="scripted"), ME)
    with anyio.fail_after(SAFETY_SECONDS):
        while sum(one.online for one in (await hub.look()).workers.values()) < WORKERS:
            await anyio.sleep(0.1)
    manager = bot.person(MANAGER)
    await manager.says("@w0 hello")
    await manager.reads("answer to", seconds=60)
    yield


async def stretch(hub: SocketHub, bot: FakeBot, seconds: float) -> Times:
    """Rounds until the time is over: one message over Telegram, one to every worker over the door, one look."""
    times, ends = Times(), time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.monotonic()
        await look(hub, times)
        await over_telegram(bot, times)
        await over_the_door(hub, times)
        await anyio.sleep(max(0.0, ROUND_SECONDS - (time.monotonic() - began)))
    return times


async def look(hub: SocketHub, times: Times) -> None:
    began = time.perf_counter()
    await hub.look()
    times.looks.append((time.perf_counter() - began) * 1000)


async def over_telegram(bot: FakeBot, times: Times) -> None:
    began = time.time()
    spoken = await bot.person(MANAGER).says("@w0 hello")
    wanted = f"answer to telegram:m:{bot.token.partition(':')[0]}:{MANAGER}:{spoken.message_id}"

    def sent(calls: tuple[RecordedCall, ...]) -> list[float]:
        return [call.at for call in calls if wanted in str(call.parameters.get("text", ""))]

    calls = await bot.until_calls(sent, "sendMessage", seconds=60)
    times.phone.append((sent(calls)[0] - began) * 1000)


async def over_the_door(hub: SocketHub, times: Times) -> None:
    """A message to each of some workers at once; the time of each until its turn is over."""
    after = (await hub.look()).seq
    began, waits = time.perf_counter(), set()
    for number in range(1, WORKERS):
        accepted = await hub.send(Say(id=f"say-{time.time_ns()}", worker=f"w{number}", text="hello"), ME)
        waits.add(accepted.message)
    with anyio.fail_after(SAFETY_SECONDS):
        async for event in hub.watch(after=after):
            if isinstance(event.fact, TurnEnded) and event.turn in waits:
                waits.discard(event.turn)
                times.turns.append((time.perf_counter() - began) * 1000)
            if not waits:
                return


@asynccontextmanager
async def attackers(port: int) -> AsyncIterator[dict[str, int]]:
    """The slow clients while the block runs; afterwards their figures."""
    command = [sys.executable, "-m", "bench.slow_clients", str(port), str(CONNECTIONS)]
    process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    found: dict[str, int] = {}
    try:
        # All of them are there before anything is measured.
        await anyio.sleep(CONNECTIONS / 1000 + 1)
        yield found
    finally:
        told, _ = await process.communicate(b"")
        found.update(json.loads(told))


async def behind_answers(bot: FakeBot) -> Row:
    """A question when megabytes of answers wait before it, at Telegram's pace: until it is on the phone."""
    await bot.rates(per_chat=1, overall=30, burst=20)
    agent = ScriptedDriver()

    def channels(context: ChannelContext) -> list[Channel]:
        return [TelegramChannel(TelegramSettings(bot.token, bot.address), context)]

    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        async with open_house(Path(name), agent, SystemClock(), channels) as house:
            await house.hire()
            manager = bot.person(MANAGER)
            await manager.says("hello")
            await manager.reads("answer to hello", seconds=60)
            for number in range(ANSWERS):
                text = f"answer {number} " + "word " * (ANSWER_CHARACTERS // 5)
                await house.send(Respond(id=f"r{number}", worker="ann", text=text))
            agent.plays(AskRaised(ask="a-1", question="Run it?", choices=YES_NO))
            began = time.time()
            await manager.says("go on")
            await manager.reads("Run it?", seconds=60)
            calls = await bot.calls("sendMessage")
            sent = next(call.at for call in calls if "Run it?" in str(call.parameters.get("text", "")))
    megabytes = ANSWERS * ANSWER_CHARACTERS / 1e6
    note = f"behind {ANSWERS} answers, {megabytes:.0f} MB"
    return Row("telegram: a question behind 4 MB of answers", sent - began, "s", limit=3.0, note=note)
