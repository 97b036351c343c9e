"""Folds the streamed pieces of a finished turn in the journal: a run of text is one row, and is read back as it came.

The row stands in the place of the last piece and knows the number, the time and the length of every piece. So it is
pruned with the last of them, and no reader can tell that anything was folded."""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

import msgspec

from farhand.model.facts import Event, Said, Thought
from farhand.model.wire import decode_event, encode
from farhand.model.words import Seq, replace

# A run is cut there: a row stays small, and whoever looks for a piece knows how far behind it its row may stand.
LONGEST_RUN = 32 * 1024
FARTHEST = 4096
# Each piece: how far its number is from the one before, when it was stamped, how many characters it has.
Pieces: TypeAlias = list[tuple[Seq, float, int]]
_pieces: msgspec.msgpack.Decoder[Pieces] = msgspec.msgpack.Decoder(Pieces)
_ROWS = "SELECT seq, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
# By an index that has no other rows: where nothing was folded it costs nothing.
_FOLDED = "SELECT seq, body, pieces FROM events WHERE pieces IS NOT NULL AND seq > ? AND seq <= ?"


def fold_turn(db: sqlite3.Connection, events: Iterable[Event]) -> None:
    """Writes each run of text in the events of one turn as one row."""
    for run in runs(events):
        last = run[-1]
        steps = [run[0].seq, *(later.seq - event.seq for event, later in pairwise(run))]
        pieces: Pieces = [(step, event.at, len(_text(event))) for step, event in zip(steps, run, strict=True)]
        body = encode(_with_text(last, "".join(_text(event) for event in run)))
        db.executemany("DELETE FROM events WHERE seq = ?", [(event.seq,) for event in run[:-1]])
        db.execute(
            "UPDATE events SET body = ?, pieces = ? WHERE seq = ?", (body, msgspec.msgpack.encode(pieces), last.seq)
        )


def runs(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Two and more neighbouring pieces of one kind, of the events of one turn. Pure."""
    run: list[Event] = []
    length = 0
    for event in events:
        length += len(_text(event))
        if not _continues(run, event) or length > LONGEST_RUN:
            if len(run) > 1:
                yield run
            run, length = [], len(_text(event))
        if isinstance(event.fact, Said | Thought):
            run.append(event)
    if len(run) > 1:
        yield run


def _continues(run: list[Event], event: Event) -> bool:
    if not run or type(run[-1].fact) is not type(event.fact):
        return False
    return isinstance(event.fact, Said | Thought) and event.seq - run[0].seq <= FARTHEST


def read(db: sqlite3.Connection, after: Seq, limit: int) -> list[tuple[Seq, bytes]]:
    """The events after that number as they were written, in order: of so many rows, and all pieces among them."""
    rows: list[tuple[Seq, bytes]] = db.execute(_ROWS, (after, limit)).fetchall()
    if not rows:
        return []
    end = rows[-1][0]
    # Pieces that came before the last of so many rows may stand in rows behind it.
    behind = FARTHEST if len(rows) == limit else 0
    folded = db.execute(_FOLDED, (after, end + behind)).fetchall()
    if not folded:
        return rows
    # By their numbers: what is folded between the two looks is found by both.
    found = dict(rows)
    for _, body, pieces in folded:
        found.update((event.seq, encode(event)) for event in unfolded(body, pieces) if after < event.seq <= end)
    return sorted(found.items())


def unfolded(body: bytes, pieces: bytes | None) -> list[Event]:
    """The events that the row was made of. Pure."""
    event = decode_event(body)
    if pieces is None:
        return [event]
    text, start, seq, events = _text(event), 0, 0, []
    for step, at, length in _pieces.decode(pieces):
        seq += step
        events.append(replace(_with_text(event, text[start : start + length]), seq=seq, at=at))
        start += length
    return events


def _text(event: Event) -> str:
    return event.fact.text if isinstance(event.fact, Said | Thought) else ""


def _with_text(event: Event, text: str) -> Event:
    return replace(event, fact=replace(event.fact, text=text)) if isinstance(event.fact, Said | Thought) else event
