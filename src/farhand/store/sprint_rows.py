"""The sprints of workers in the tables of the present."""

import sqlite3

import msgspec

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import sprint_after
from farhand.model.sprint import SprintState
from farhand.model.wire import encode

decode = msgspec.json.Decoder(SprintState).decode


def apply(
    db: sqlite3.Connection,
    event: Event,
    fact: facts.SprintBegan | facts.SprintMoved | facts.HaltAsked | facts.SprintEnded,
) -> None:
    """Writes what the fact changes."""
    row = db.execute("SELECT sprint FROM workers WHERE name = ?", (event.worker,)).fetchone()
    after = sprint_after(decode(row[0]) if row and row[0] else None, fact, event.at)
    db.execute("UPDATE workers SET sprint = ? WHERE name = ?", (encode(after) if after else None, event.worker))
