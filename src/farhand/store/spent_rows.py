"""What workers have used, in the tables of the present."""

import sqlite3

import msgspec

from farhand.model.facts import Event
from farhand.model.wire import encode
from farhand.model.words import NOTHING_SPENT, Spent, Usage, spend

_spent = msgspec.json.Decoder(Spent)


def read(spent: bytes | None) -> Spent:
    """What stands in a worker's row."""
    return _spent.decode(spent) if spent else NOTHING_SPENT


def apply(db: sqlite3.Connection, event: Event, usage: Usage | None) -> None:
    """Adds what a turn told that it used."""
    if usage is None or not event.turn:
        return
    row = db.execute("SELECT spent FROM workers WHERE name = ?", (event.worker,)).fetchone()
    if row is None:
        return
    after = spend(read(row[0]), event.turn, usage)
    db.execute("UPDATE workers SET spent = ? WHERE name = ?", (encode(after), event.worker))
