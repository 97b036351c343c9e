"""How fast a message travels: to the worker, from the worker, and to fifty watchers at once."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.rows import Row, beside
from bench.timing import PYTHON, BareFile, median, percentile
from farhand.client.door import SocketHub, connect
from farhand.model.commands import Hire, Say
from farhand.model.facts import CameOnline, Event, HandedOver, TurnEnded
from farhand.model.words import Sender

ROUNDS = 500
WARM = 30
WATCHERS = 50
TALKERS = 10
FACTS = 200
SAFETY_SECONDS = 60.0
TEXT = "Please look why the test of the parser fails since yesterday, and put it right."
ME = Sender(via="bench")
# A folder that is no disk, where the system has one.
MEMORY = Path("/dev/shm")
HANDED = "command → handed to the worker"
ECHO = "echo over a unix socket"


@dataclass
class Times:
    """What every round took, in seconds."""

    echo: list[float] = field(default_factory=list)
    commit: list[float] = field(default_factory=list)
    handed: list[float] = field(default_factory=list)
    accepted: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name, running(Path(name)) as folder:
        yield from disk_rows(asyncio.run(travel(folder)))
        yield watcher_row(*asyncio.run(crowd(folder)))
    if MEMORY.is_dir():
        with tempfile.TemporaryDirectory(prefix="farhand-bench-", dir=MEMORY) as name, running(Path(name)) as folder:
            yield from memory_rows(asyncio.run(travel(folder)))


@contextmanager
def running(folder: Path) -> Iterator[Path]:
    """A node in that folder, in a process of its own."""
    command = [PYTHON, "-m", "bench.node", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield folder
        process.stdin.close()


def disk_rows(times: Times) -> list[Row]:
    """The ways there and back on this disk.

    A message is on the disk before anybody hears of it, so the way there stands beside an echo and one such commit.
    Both by their lower quartile: whoever else syncs this disk makes a commit ten times as slow, in spells that hit one
    side of a pair and not the other. The median beside the echo shows what that does."""
    echo, handed, told = (median(each) * 1e6 for each in (times.echo, times.handed, times.told))
    both = quartile([first + second for first, second in zip(times.echo, times.commit, strict=True)])
    memory = MEMORY.is_dir()
    note = "median, the disk included" if memory else "median; no folder in memory to leave the disk out"
    return [
        Row("one commit that reaches the disk", quartile(times.commit), "µs", note="bare SQLite, lower quartile"),
        Row("the same, median", median(times.commit) * 1e6, "µs"),
        beside(HANDED, quartile(times.handed), "µs", "echo + that commit", both, 2.5, "lower quartile"),
        beside(HANDED, handed, "µs", ECHO, echo, None if memory else 5.0, note),
        beside(
            "command → acknowledged", quartile(times.accepted), "µs", "echo + that commit", both, None, "lower quartile"
        ),
        beside("last fact → first watcher", told, "µs", ECHO, echo, 5.0),
    ]


def quartile(values: list[float]) -> float:
    """The lower quartile of seconds, in microseconds."""
    return percentile(values, 0.25) * 1e6


def memory_rows(times: Times) -> list[Row]:
    """The same with the node's folder in memory, where a sync costs nothing: what is left is our own."""
    echo = median(times.echo) * 1e6
    return [
        beside(f"{HANDED}, disk apart", median(times.handed) * 1e6, "µs", ECHO, echo, 5.0, "node's folder in memory"),
        beside("last fact → first watcher, disk apart", median(times.told) * 1e6, "µs", ECHO, echo, 5.0),
    ]


async def travel(folder: Path) -> Times:
    """Message after message, with the floors taken between them."""
    times = Times()
    bare = BareFile(folder / "bare.db", "FULL")
    echo = await asyncio.open_unix_connection(folder / "echo.sock")
    async with SocketHub(folder / "test" / "hub.sock") as hub:
        events = hub.watch()
        hired = asyncio.ensure_future(until(events, CameOnline))
        await asyncio.sleep(0.1)
        await hub.send(Hire(id="hire", worker="ann", backend="scripted"), ME)
        await hired
        for number in range(WARM + ROUNDS):
            if number == WARM:
                times = Times()
            times.echo.append(await echoed(*echo))
            # Whoever syncs second finds less to do: each comes first in half of the rounds.
            if number % 2:
                times.commit.append(bare.insert(TEXT.encode() * 2))
            await one_message(hub, events, echo[1], number, times)
            if not number % 2:
                times.commit.append(bare.insert(TEXT.encode() * 2))
    echo[1].close()
    bare.close()
    return times


async def one_message(
    hub: SocketHub, events: AsyncIterator[Event], control: asyncio.StreamWriter, number: int, times: Times
) -> None:
    """One message there and its turn's end back."""
    began = time.monotonic_ns()
    await hub.send(Say(id=f"say-{number}", text=TEXT, worker="ann"), ME)
    times.accepted.append((time.monotonic_ns() - began) / 1e9)
    await until(events, HandedOver)
    control.write(b"end ann\n")
    ended = await until(events, TurnEnded)
    arrived = time.monotonic_ns()
    assert isinstance(ended.fact, TurnEnded)
    handed, last = (int(text) for text in ended.fact.error.split())
    times.handed.append((handed - began) / 1e9)
    times.told.append((arrived - last) / 1e9)


async def echoed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    """There and back, with nothing behind it."""
    began = time.perf_counter()
    writer.write(b'{"do":"send","text":"' + TEXT.encode() + b'"}\n')
    await writer.drain()
    await reader.readuntil(b"\n")
    return time.perf_counter() - began


async def until(events: AsyncIterator[Event], kind: type[object]) -> Event:
    """The next event with such a fact."""
    async for event in events:
        if isinstance(event.fact, kind):
            return event
    raise AssertionError("the node went away")


# --- fifty watchers


class Counting(asyncio.Protocol):
    """Counts the events that come, as cheaply as they can be counted."""

    MARK = b'"seq":'

    def __init__(self, first: bytes) -> None:
        self._first = first
        self._rest = b""
        self._wanted = 0
        self.count = 0
        self.heard = asyncio.Event()
        self.done = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._first)

    def data_received(self, data: bytes) -> None:
        self.heard.set()
        whole = self._rest + data
        self.count += whole.count(self.MARK)
        # A mark may be cut in two.
        self._rest = whole[-(len(self.MARK) - 1) :]
        if self.count >= self._wanted:
            self.done.set()

    def expect(self, count: int) -> None:
        """From now on `done` means that so many more have come."""
        self._wanted = self.count + count
        self.done.clear()


@asynccontextmanager
async def watchers(path: Path, first: bytes) -> AsyncIterator[list[Counting]]:
    """Fifty connections, each of which said its first line and got an answer to it."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_unix_connection(lambda: Counting(first), sock=connect(path)) for _ in range(WATCHERS)]
    try:
        for _, protocol in made:
            await protocol.heard.wait()
        yield [protocol for _, protocol in made]
    finally:
        for transport, _ in made:
            transport.close()


async def crowd(folder: Path) -> tuple[float, float]:
    """Events a second to all watchers, and lines a second written to as many bare connections."""
    _, control = await asyncio.open_unix_connection(folder / "echo.sock")
    async with SocketHub(folder / "test" / "hub.sock") as hub:
        events = hub.watch(after=(await hub.look()).seq)
        for number in range(2, TALKERS + 1):
            await hub.send(Hire(id=f"hire-{number}", worker=f"worker-{number}", backend="scripted"), ME)
            await until(events, CameOnline)
        # Agents talk in turns; what is said outside of one is an entry of the history by itself.
        for name in ("ann", *(f"worker-{number}" for number in range(2, TALKERS + 1))):
            await hub.send(Say(id=f"talk-{name}", text=TEXT, worker=name), ME)
            await until(events, HandedOver)
        ours, bare = [], []
        async with (
            watchers(folder / "test" / "hub.sock", b'{"do":"watch"}\n') as watching,
            watchers(folder / "echo.sock", b"join\n") as joined,
        ):
            for _ in range(3):
                bare.append(await rate(joined, control, b"fan %d\n" % (TALKERS * FACTS)))
                ours.append(await rate(watching, control, b"burst %d\n" % FACTS))
    control.close()
    return median(ours), median(bare)


async def rate(everyone: list[Counting], control: asyncio.StreamWriter, order: bytes) -> float:
    """How many events a second reach everyone."""
    for each in everyone:
        each.expect(TALKERS * FACTS)
    began = time.perf_counter()
    control.write(order)
    async with asyncio.timeout(SAFETY_SECONDS):
        for each in everyone:
            await each.done.wait()
    return TALKERS * FACTS / (time.perf_counter() - began)


def watcher_row(ours: float, bare: float) -> Row:
    """Events a second, higher being better."""
    name = f"events a second to {WATCHERS} watchers, written down first"
    return Row(name, ours, "/s", "bare writes to as many", bare, ours / bare, better="higher")
