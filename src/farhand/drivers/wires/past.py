"""The past of a conversation at the desk, from an agent's own records: turns, as the history of a worker has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from farhand.disk.plain_files import open_plain
from farhand.drivers.wires.foreign_json import parse
from farhand.drivers.wires.tmux.transcript import LineState, Translate
from farhand.model.facts import Event, TurnEnded, TurnStarted
from farhand.model.history import LONGEST_PAGE, PAGE_BYTES, HistoryPage, TurnEntry, turn_entry
from farhand.model.ports import Heard
from farhand.model.wire import encode
from farhand.model.words import HowEnded, Seq, replace

# What a record means: its place in the conversation, which only grows, when it was written, and its facts.
PastRecord: TypeAlias = tuple[Seq, float, list[Heard]]
# So much of a file is read for a page; more when nobody has begun anything in it.
WINDOW_BYTES = 4 * 1024 * 1024
LARGEST_WINDOW = 64 * 1024 * 1024


def past_of_file(
    path: Path, before: Seq | None, limit: int, state: LineState, translate: Translate[LineState], *, running: bool
) -> HistoryPage:
    """A page of a file of lines: its turns before that place, the newest of them; an entry's number is its offset.

    `running` says that somebody has the conversation open, so that its last turn may go on."""
    window = WINDOW_BYTES
    while True:
        start, lines = _window(path, before, window)
        records = _translated(lines, state, translate)
        page = past_page(records, limit, begins=start == 0, running=running and before is None)
        if page.entries or start == 0 or window >= LARGEST_WINDOW:
            return page
        window *= 4


def past_page(records: Iterable[PastRecord], limit: int, *, begins: bool, running: bool) -> HistoryPage:
    """The newest turns of the records; `begins` says that nothing stands before them. Pure."""
    turns: list[list[Event]] = []
    for seq, at, heard in records:
        for one in heard:
            turn = one.turn or (turns[-1][0].turn if turns else None)
            event = Event(seq=seq, at=at, worker="", turn=turn, fact=one.fact)
            if isinstance(one.fact, TurnStarted):
                turns.append([event])
            elif turns:
                turns[-1].append(event)
    # What the records begin in the middle of belongs to the page before.
    whole = turns if begins else [turn for place, turn in enumerate(turns) if place or _has_prompt(turn)]
    entries = [_entry(turn, running=running and turn is whole[-1]) for turn in whole]
    kept = _fitting(entries[-min(max(limit, 1), LONGEST_PAGE) :])
    return HistoryPage(entries=tuple(kept), more=len(kept) < len(entries) or (not begins and bool(kept)))


def _has_prompt(turn: list[Event]) -> bool:
    return isinstance(turn[0].fact, TurnStarted) and bool(turn[0].fact.text)


def _entry(events: list[Event], *, running: bool) -> TurnEntry:
    if not running and not any(isinstance(event.fact, TurnEnded) for event in events):
        # Nobody wrote down how it ended; what is certain is that it did.
        events = [*events, replace(events[-1], fact=TurnEnded(how=HowEnded.COMPLETED))]
    return turn_entry(events)


def _fitting(entries: list[TurnEntry]) -> list[TurnEntry]:
    """As many of the newest as a page holds, and one at least."""
    size, kept = 0, 0
    for entry in reversed(entries):
        size += len(encode(entry))
        if kept and size > PAGE_BYTES:
            break
        kept += 1
    return entries[len(entries) - kept :]


def _window(path: Path, before: Seq | None, size: int) -> tuple[int, list[tuple[int, bytes]]]:
    """Where the window begins, and its whole lines, each with its place; nothing of a file that cannot be read."""
    try:
        descriptor = open_plain(path)
    except OSError:
        return 0, []
    try:
        there = os.fstat(descriptor).st_size
        end = there if before is None else min(before, there)
        start = max(0, end - size)
        data = os.pread(descriptor, end - start, start)
    except OSError:
        return 0, []
    finally:
        os.close(descriptor)
    return start, list(_lines(data, start))


def _lines(data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    place = data.find(b"\n") + 1 if start else 0
    while (end := data.find(b"\n", place)) >= 0:
        yield start + place, data[place:end]
        place = end + 1


def _translated(
    lines: list[tuple[int, bytes]], state: LineState, translate: Translate[LineState]
) -> Iterator[PastRecord]:
    for place, line in lines:
        heard, state = translate(line, state, 0.0)
        if heard:
            record = parse(line)
            yield place, record.written_at() if record is not None else 0.0, heard
