"""Turns that ended and are not in the history yet.

The transaction that ends a turn only notes that its entry is due: the entry and its words in the full-text index are
written when the store has nothing else to write, by the first who reads the history, or at the next start. The events
are in the journal and the note is beside them, so a kill at any moment loses nothing."""

import sqlite3
from collections.abc import MutableMapping

import msgspec

from farhand.model.facts import Event
from farhand.model.words import MessageId, Seq, TurnId, WorkerName
from farhand.store import history, read_tables

# So many ends of turns wait at the most, however busy the store is.
MOST = 64

_ids = msgspec.json.Decoder(tuple[MessageId, ...])
_encoder = msgspec.json.Encoder()


def put(
    db: sqlite3.Connection, first: Seq, last: Seq, worker: WorkerName, turn: TurnId, messages: list[MessageId]
) -> None:
    """Notes that a turn ended, and which messages were said to it."""
    db.execute(
        "INSERT OR REPLACE INTO history_due (seq, last, worker, turn, messages) VALUES (?, ?, ?, ?, ?)",
        (first, last, worker, turn, _encoder.encode(messages)),
    )


def waits(db: sqlite3.Connection) -> bool:
    """Whether the entry of a turn is due."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM history_due)").fetchone()[0])


def write(db: sqlite3.Connection, at_hand: MutableMapping[Seq, tuple[Event, ...]]) -> None:
    """Writes every entry that is due; `at_hand` has events of turns by their first number, and is emptied."""
    for first, last, worker, turn, messages in db.execute("SELECT * FROM history_due ORDER BY seq").fetchall():
        said = [one for name in _ids.decode(messages) if (one := read_tables.message(db, name)) is not None]
        history.write_turn(db, worker, turn, first, last, at_hand.pop(first, ()), said)
    db.execute("DELETE FROM history_due")
    at_hand.clear()
