"""Ways to take times: processes, medians, high percentiles, and a bare SQLite file as the floor of every write."""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PYTHON = sys.executable
median = statistics.median
# SQLite starts its write-ahead log anew after a thousand pages; a file that still grows is slower to sync.
_UNTIL_FULL_GROWN = 1500


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def run(*command: str) -> None:
    """Runs a program that must succeed, and hears nothing of it."""
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)


class BareFile:
    """A SQLite file with one table: the least that an insert and its commit can cost on this disk."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, at REAL, body BLOB)")
        for _ in range(_UNTIL_FULL_GROWN):
            self.insert(b"x" * 200)
        self._connection.execute(f"PRAGMA synchronous = {synchronous}")

    def insert(self, body: bytes) -> float:
        """One insert and its commit, in seconds."""
        began = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO events (at, body) VALUES (?, ?)", (began, body))
        self._connection.execute("COMMIT")
        return time.perf_counter() - began

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


def resident_bytes(pid: int) -> int:
    """The memory that a process holds now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """The time that all threads of a process have run, to the nanosecond and not to the tick."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += int((task / "schedstat").read_text().split()[0])
    return found / 1e9
