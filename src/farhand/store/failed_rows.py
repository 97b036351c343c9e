"""The turns of a worker that failed and can be tried again, in the table of workers."""

import sqlite3

import msgspec

from farhand.model import facts, failed_turns
from farhand.model.present import FailedTurn, Turn
from farhand.model.wire import encode

_failed = msgspec.json.Decoder(tuple[FailedTurn, ...])


def decode(row: bytes | None) -> tuple[FailedTurn, ...]:
    """What the column has."""
    return _failed.decode(row) if row else ()


def ended(db: sqlite3.Connection, worker: str, turn: Turn, fact: facts.TurnEnded) -> None:
    """A turn ended."""
    if fact.can_retry:
        _write(db, worker, failed_turns.after_end(_read(db, worker), turn, fact))


def started(db: sqlite3.Connection, worker: str) -> None:
    """A turn began: the worker is no longer stuck, and fewer turns can be tried again."""
    row = db.execute("SELECT stuck, failed FROM workers WHERE name = ?", (worker,)).fetchone()
    if row and row[0]:
        db.execute("UPDATE workers SET stuck = '' WHERE name = ?", (worker,))
    if row and row[1]:
        _write(db, worker, failed_turns.after_start(decode(row[1])))


def queued(db: sqlite3.Connection, worker: str, again: str) -> None:
    """The message of that turn is tried again."""
    if again:
        _write(db, worker, failed_turns.after_queued(_read(db, worker), again))


def _read(db: sqlite3.Connection, worker: str) -> tuple[FailedTurn, ...]:
    row = db.execute("SELECT failed FROM workers WHERE name = ? AND failed IS NOT NULL", (worker,)).fetchone()
    return decode(row[0]) if row else ()


def _write(db: sqlite3.Connection, worker: str, failed: tuple[FailedTurn, ...]) -> None:
    db.execute("UPDATE workers SET failed = ? WHERE name = ?", (encode(failed) if failed else None, worker))
