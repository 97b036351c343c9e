"""The Gemini CLI's session files: what one message more costs in a short file and in a long one, in both formats."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.rows import Row, beside
from farhand.drivers.gemini.tmux.session_file import at_end, follow
from farhand.drivers.gemini.tmux.state import GeminiCursor, GeminiState

SESSION = "5ee704df-904b-4b21-aff2-f5e39965c404"
MEGABYTE = 1024 * 1024
LONG_MEGABYTES = 100
ROUNDS = 200
HEAD = {"sessionId": SESSION, "projectHash": "0" * 64, "startTime": "2026-11-15T19:14:46.107Z", "kind": "main"}


def message(number: int) -> dict[str, Any]:
    """A prompt, or an answer of eight hundred characters."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1794770000 + number))
    told = {"id": f"{number:032x}", "timestamp": at}
    if number % 2:
        return {**told, "type": "gemini", "content": "x" * 800, "tokens": {"input": 100, "output": 10}}
    return {**told, "type": "user", "content": [{"text": "go on, please"}]}


def lines(path: Path, megabytes: int) -> Callable[[int], None]:
    """A file of lines of that length; the function adds a message."""
    pair = [json.dumps(message(number)).encode() + b"\n" for number in range(2)]
    count = megabytes * MEGABYTE // sum(map(len, pair))
    path.write_bytes(json.dumps(HEAD).encode() + b"\n" + b"".join(pair) * count)

    def add(number: int) -> None:
        with path.open("ab") as file:
            file.write(json.dumps(message(number)).encode() + b"\n")

    return add


def whole(path: Path, megabytes: int) -> Callable[[int], None]:
    """A file in one piece; the function leaves it as the CLI does that writes it anew with one message more."""
    opening = json.dumps({**HEAD, "lastUpdated": HEAD["startTime"]}, indent=2)[:-2] + ',\n  "messages": [\n'
    pair = [json.dumps(message(number)) for number in range(2)]
    count = megabytes * MEGABYTE // sum(map(len, pair))
    closing = b'\n  ],\n  "summary": "a long one"\n}'
    path.write_bytes(opening.encode() + ",\n".join(pair * count).encode() + closing)

    def add(number: int) -> None:
        # The same bytes as a rewrite would leave: writing a hundred megabytes is not what is measured.
        with path.open("r+b") as file:
            file.seek(-len(closing), os.SEEK_END)
            file.write(b",\n" + json.dumps(message(number)).encode() + closing)

    return add


def one_more(path: Path, add: Callable[[int], None]) -> float:
    """What it takes to follow one message more, in microseconds."""
    cursor = at_end(GeminiCursor(path=str(path), state=GeminiState(session=SESSION)))
    taken = []
    for number in range(10, 10 + ROUNDS):
        add(number)
        started = time.perf_counter()
        heard, cursor = follow(cursor, 0.0)
        taken.append(time.perf_counter() - started)
        assert heard
    return statistics.median(taken) * 1e6


def growth(folder: Path, name: str, ending: str, write: Callable[[Path, int], Callable[[int], None]]) -> Row:
    """One message more in a long file beside one in a short file."""
    figures = []
    for megabytes in (1, LONG_MEGABYTES):
        path = folder / f"session-{megabytes}{ending}"
        figures.append(one_more(path, write(path, megabytes)))
        path.unlink()
    return beside(f"{name}: one message more at {LONG_MEGABYTES} MB", figures[1], "µs", "at 1 MB", figures[0], 1.5)


def unchanged(folder: Path) -> Row:
    """A look at a long file in one piece that nobody has written to, beside a bare `fstat` of it."""
    path = folder / "session.json"
    whole(path, LONG_MEGABYTES)
    _, cursor = follow(GeminiCursor(path=str(path), state=GeminiState(session=SESSION)), 0.0)

    def bare() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        os.fstat(descriptor)
        os.close(descriptor)

    ours, floor = median_of(lambda: follow(cursor, 0.0)), median_of(bare)
    return beside("in one piece: a look when nothing changed", ours, "µs", "open and fstat", floor, 3.0)


def median_of(action: Callable[[], object]) -> float:
    """The usual time of an action, in microseconds."""
    taken = []
    for _ in range(2000):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e6


def rows() -> list[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            growth(folder, "in lines", ".jsonl", lines),
            growth(folder, "in one piece", ".json", whole),
            unchanged(folder),
        ]
