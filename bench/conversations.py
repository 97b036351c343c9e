"""Stores that look as if a team had worked for long: a journal of so many events, with the tables that go with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path

from farhand.model import facts
from farhand.model.commands import Accepted
from farhand.model.facts import Event, Fact
from farhand.model.wire import encode
from farhand.model.words import HowEnded, Receipt, Sender
from farhand.store import history, tables
from farhand.store.database import connect, migrate

WORKERS = 5
SENDER = Sender(via="telegram", who="42")
ASKED = "Please look why the test of the parser fails since yesterday, and put it right."
ANSWER = "The parser took an empty line for the end. I changed the loop and added a test for it. "
BEGAN = 1_763_000_000.0
_PIECE = 10_000


def turn(message: str) -> tuple[Fact, ...]:
    """What one message leaves in the journal."""
    return (
        facts.Queued(message=message, text=ASKED, by=SENDER),
        facts.TurnStarted(message=message),
        facts.HandedOver(message=message),
        facts.Thought(text="The test gives an empty line; the loop stops there."),
        facts.ToolStarted(call=f"{message}/1", tool="Edit", title="src/parser.py", detail=ANSWER),
        facts.ToolEnded(call=f"{message}/1", output="1 file changed, 3 insertions(+), 1 deletion(-)"),
        facts.Said(text=ANSWER),
        facts.Said(text=ANSWER),
        facts.Said(text=ANSWER),
        facts.TurnEnded(how=HowEnded.COMPLETED),
    )


A_TURN = len(turn(""))


def team() -> list[Event]:
    """The first events: everybody is hired and online."""
    hired = facts.Hired(backend="absent", directory="/", by=SENDER)
    found = [(f"worker-{number}", fact) for number in range(WORKERS) for fact in (hired, facts.WentOffline(why="-"))]
    return [Event(seq=seq, at=BEGAN, worker=worker, fact=fact) for seq, (worker, fact) in enumerate(found, start=1)]


def talk(first: int) -> Iterator[Event]:
    """Turn after turn, without end."""
    seq, number = first, 0
    while True:
        number += 1
        message = f"telegram:{number}"
        for fact in turn(message):
            yield Event(seq=seq, at=BEGAN + seq / 10, worker=f"worker-{number % WORKERS}", turn=message, fact=fact)
            seq += 1


def build(path: Path, count: int) -> None:
    """A store with so many events and the messages and commands that they came from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(connect(path)) as db:
        migrate(db, path)
        db.execute("PRAGMA synchronous = OFF")
        opening = team()
        everything = islice(chain(opening, talk(len(opening) + 1)), count)
        db.execute("BEGIN")
        for event in opening:
            tables.apply(db, event)
        while piece := list(islice(everything, _PIECE)):
            _insert(db, piece)
        history.fill(db)
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _insert(db: sqlite3.Connection, events: list[Event]) -> None:
    db.executemany(
        "INSERT INTO events (seq, at, body) VALUES (?, ?, ?)", [(one.seq, one.at, encode(one)) for one in events]
    )
    asked = [(one, one.fact) for one in events if isinstance(one.fact, facts.Queued)]
    db.executemany(
        "INSERT INTO messages (id, worker, seq, at, text, attachments, sender, steer, receipt)"
        " VALUES (?, ?, ?, ?, ?, '[]', ?, 0, ?)",
        [(q.message, one.worker, one.seq, one.at, q.text, encode(q.by), Receipt.ANSWERED) for one, q in asked],
    )
    db.executemany(
        "INSERT INTO inbox (via, command, at, accepted) VALUES ('telegram', ?, ?, ?)",
        [(q.message, one.at, encode(Accepted(id=q.message, seq=one.seq, worker=one.worker))) for one, q in asked],
    )
