"""The sprints and reviews of workers in the tables of the present."""

import sqlite3

import msgspec

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.review import ReviewState
from farhand.model.sprint import SprintState
from farhand.model.wire import encode
from farhand.model.work_fold import reviews_after, sprint_after, stuck_after

decode = msgspec.json.Decoder(SprintState).decode
decode_reviews = msgspec.json.Decoder(tuple[ReviewState, ...]).decode
SprintFact = facts.SprintBegan | facts.SprintMoved | facts.HaltAsked | facts.SprintEnded


def apply(db: sqlite3.Connection, event: Event, fact: SprintFact | facts.ReviewAsked | facts.ReviewMoved) -> None:
    """Writes what the fact changes."""
    row = db.execute("SELECT sprint, reviews, stuck FROM workers WHERE name = ?", (event.worker,)).fetchone()
    sprint, reviews, stuck = row or (None, None, "")
    if isinstance(fact, facts.ReviewAsked | facts.ReviewMoved):
        told = reviews_after(decode_reviews(reviews) if reviews else (), fact, event.at)
        db.execute("UPDATE workers SET reviews = ? WHERE name = ?", (encode(told), event.worker))
        return
    after = sprint_after(decode(sprint) if sprint else None, fact, event.at)
    row = (encode(after) if after else None, stuck_after(stuck, fact), event.worker)
    db.execute("UPDATE workers SET sprint = ?, stuck = ? WHERE name = ?", row)
