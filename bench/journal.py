"""What it costs to write events down, how that disturbs the loop, and how it grows from 10³ to 10⁶ events."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from bench.conversations import ANSWER, ASKED, BEGAN, SENDER, build
from bench.rows import Row, beside
from bench.timing import BareFile, median, percentile
from farhand.model import facts
from farhand.model.commands import Accepted
from farhand.model.facts import Draft
from farhand.model.store_ports import InboxEntry
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

ROUNDS = 300
TOGETHER = 64
STALL_SECONDS = 3.0
SMALL, LARGE = 1_000, 1_000_000
CHUNK = 512
BODY = ASKED.encode() * 2


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        folder = Path(name)
        yield from asyncio.run(append_rows(folder))
        yield from asyncio.run(stall_rows(folder))
        small, large = folder / "small.db", folder / "large.db"
        build(small, SMALL)
        build(large, LARGE)
        yield from asyncio.run(growth_rows(small, large))
        yield opening_row(small, large)


class Store:
    """A journal with somebody who writes to it."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path)
        self.journal = SqliteJournal(self._database)
        self._count = 0

    async def said(self) -> None:
        """A fact of an agent, as one write."""
        events = self.journal.stamp([Draft(worker="worker-1", turn="t", fact=facts.Said(text=ANSWER))], BEGAN)
        await self.journal.append(events)

    async def asked(self) -> None:
        """A message of a person, as one write that is on the disk when it returns."""
        self._count += 1
        message = f"bench:{self._count}"
        queued = facts.Queued(message=message, text=ASKED, by=SENDER)
        started = facts.TurnStarted(message=message)
        drafts = [Draft(worker="worker-1", fact=queued), Draft(worker="worker-1", turn=message, fact=started)]
        events = self.journal.stamp(drafts, BEGAN)
        accepted = Accepted(id=message, seq=events[-1].seq, worker="worker-1", message=message)
        await self.journal.append(events, inbox=InboxEntry(via="bench", accepted=accepted))

    def close(self) -> None:
        """Closes the file."""
        self._database.close()


async def append_rows(folder: Path) -> list[Row]:
    """One write beside one bare insert and commit, for both ways to commit; and many writes at once."""
    store = Store(folder / "append.db")
    full, normal = BareFile(folder / "full.db", "FULL"), BareFile(folder / "normal.db", "NORMAL")
    asked, said, many, bare_full, bare_normal = [], [], [], [], []
    for _ in range(1500):
        await store.said()
    for _ in range(ROUNDS):
        bare_full.append(full.insert(BODY))
        asked.append(await timed(store.asked))
        bare_normal.append(normal.insert(BODY))
        said.append(await timed(store.said))
    for _ in range(ROUNDS // 10):
        bare_normal.extend(normal.insert(BODY) for _ in range(10))
        began = time.perf_counter()
        await asyncio.gather(*(store.said() for _ in range(TOGETHER)))
        many.append((time.perf_counter() - began) / TOGETHER)
    for each in (store, full, normal):
        each.close()
    on_disk, in_log = median(bare_full) * 1e6, median(bare_normal) * 1e6
    return [
        beside("append what a person sent (FULL)", median(asked) * 1e6, "µs", "bare insert, FULL", on_disk, 3.0),
        beside(f"append, {TOGETHER} at once (NORMAL)", median(many) * 1e6, "µs", "bare insert, NORMAL", in_log, 3.0),
        beside("append, alone (NORMAL)", median(said) * 1e6, "µs", "bare insert, NORMAL", in_log),
    ]


async def timed(action: Callable[[], Awaitable[None]]) -> float:
    """How long an action takes that is awaited."""
    began = time.perf_counter()
    await action()
    return time.perf_counter() - began


# --- the loop


async def stall_rows(folder: Path) -> list[Row]:
    """How late the loop comes back to a task that sleeps a millisecond, while ten writers append."""
    quiet: list[float] = []
    busy: list[float] = []
    store = Store(folder / "stall.db")
    for _ in range(3):
        quiet += await late(STALL_SECONDS / 3)
        writers = [asyncio.ensure_future(writing(store)) for _ in range(10)]
        busy += await late(STALL_SECONDS / 3)
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
    store.close()
    name, floor = "the loop's p99 stall, ten writers", "the same, nobody writes"
    return [beside(name, percentile(busy, 0.99) * 1e3, "ms", floor, percentile(quiet, 0.99) * 1e3)]


async def writing(store: Store) -> None:
    """Appends without a pause; every tenth is a person's."""
    while True:
        for _ in range(9):
            await asyncio.shield(store.said())
        await asyncio.shield(store.asked())


async def late(seconds: float) -> list[float]:
    """By how much every sleep was too long."""
    found = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        await asyncio.sleep(0.001)
        found.append(time.perf_counter() - began - 0.001)
    return found


# --- growth


async def growth_rows(small: Path, large: Path) -> list[Row]:
    """The same work on a short and on a long journal, in turns."""
    stores = [Store(small), Store(large)]
    for store in stores:
        await store.journal.load()
    appends: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for store, taken in zip(stores, appends, strict=True):
            taken.append(await timed(store.asked))
    slow, quick = median(appends[1]) * 1e6, median(appends[0]) * 1e6
    yearlong = [await replayed(store.journal) * 1e6 for store in reversed(stores)]
    for store in stores:
        store.close()
    return [
        beside("append at 10⁶ events (FULL)", slow, "µs", "at 10³ events", quick, 2.0),
        beside("replay an event of 10⁶", yearlong[0], "µs", "of 10³", yearlong[1], 2.0),
    ]


async def replayed(journal: SqliteJournal) -> float:
    """Seconds an event, over the whole journal; a short one is read until as much time has passed."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < 1.0:
        position = 0
        while piece := await journal.read(position, CHUNK):
            position = piece[-1][0]
            count += len(piece)
    return (time.perf_counter() - began) / count


def opening_row(small: Path, large: Path) -> Row:
    """Opening the store and reading the present out of it."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(15):
        for path, times in zip((small, large), taken, strict=True):
            times.append(asyncio.run(opened(path)))
    quick, slow = (median(times) * 1e3 for times in taken)
    return beside("open the store, read the present: 10⁶", slow, "ms", "10³ events", quick, 2.0)


async def opened(path: Path) -> float:
    """Seconds until the present is there."""
    began = time.perf_counter()
    database = Database(path)
    await SqliteJournal(database).load()
    taken = time.perf_counter() - began
    database.close()
    return taken
