"""What it costs to read and to search the past, at 10⁵ turns in 10⁶ events."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.conversations import A_TURN, build
from bench.rows import Row
from bench.timing import median
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

EVENTS = 1_000_000
ROUNDS = 50


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        path = Path(name) / "large.db"
        build(path, EVENTS)
        yield from asyncio.run(_read(path))


async def _read(path: Path) -> list[Row]:
    database = Database(path)
    journal = SqliteJournal(database)
    await journal.load()
    pages, common, rare, of_one = [], [], [], []
    for number in range(ROUNDS):
        before = EVENTS - number * (EVENTS // ROUNDS) or None
        began = time.perf_counter()
        assert len((await journal.history("worker-1", before, 60, EVENTS)).entries) == 60
        pages.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert len(await journal.search("parser empty", "", 50)) == 50
        common.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert await journal.search(f"nothing{number}", "", 50) == []
        rare.append(time.perf_counter() - began)
        began = time.perf_counter()
        found = await journal.search("parser empty", "worker-1", 50)
        of_one.append(time.perf_counter() - began)
        assert [one.worker for one in found] == ["worker-1"] * 50
    database.close()
    turns = f"of {EVENTS // A_TURN:,} turns"
    return [
        Row(f"a page of 60 {turns}", median(pages) * 1e3, "ms", limit=10.0),
        Row(f"search for two words that are in all {turns}", median(common) * 1e3, "ms", limit=50.0),
        Row(f"search for them in what one worker said {turns}", median(of_one) * 1e3, "ms", limit=50.0),
        Row(f"search for a word that is in none {turns}", median(rare) * 1e3, "ms", limit=50.0),
    ]
