"""Streamed pieces become one row when their turn ends; no reader loses a word by it, wherever it had stopped."""

import random
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from farhand.model import team_view
from farhand.model.facts import (
    Draft,
    Event,
    Fact,
    Hired,
    Noted,
    Queued,
    Said,
    Thought,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from farhand.model.history import TurnEntry
from farhand.model.team_view import TeamView
from farhand.model.wire import decode_event
from farhand.model.words import HowEnded, Sender
from farhand.store import folded_turns
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

pytestmark = pytest.mark.anyio
ME = Sender(via="test")
WORKERS = ("ann", "bob", "cleo")


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    database = Database(tmp_path / "store.db")
    made = SqliteJournal(database)
    await made.load()
    yield made
    database.close()


def _turn(worker: str, number: int, chance: random.Random) -> list[Draft]:
    message = f"{worker}-{number}"
    facts: list[Fact] = [Queued(message=message, text="go", by=ME), TurnStarted(message=message)]
    for piece in range(chance.randint(0, 12)):
        kinds: tuple[Fact, ...] = (
            Said(text=f"{message}.{piece} "),
            Thought(text=f"~{piece}ü𝄞 "),
            ToolStarted(call=f"c{piece}", tool="t", title="T"),
        )
        facts.append(chance.choices(kinds, (6, 3, 1))[0])
    facts += [Noted(text="almost"), TurnEnded(how=HowEnded.COMPLETED)]
    return [Draft(worker=worker, turn=message if place else None, fact=fact) for place, fact in enumerate(facts)]


def _talk(chance: random.Random) -> list[Draft]:
    """What three workers do at the same time; one of them is still at it in the end."""
    waiting = [[draft for number in range(3) for draft in _turn(worker, number, chance)] for worker in WORKERS]
    del waiting[2][-1]
    made = [Draft(worker=worker, fact=Hired(backend="demo", directory="/", by=ME)) for worker in WORKERS]
    while any(waiting):
        made.append(chance.choice([one for one in waiting if one]).pop(0))
    return made


async def _rows(journal: SqliteJournal) -> int:
    await journal.complete_history()
    return int(await journal._database.read(lambda db: db.execute("SELECT count(*) FROM events").fetchone()[0]))


async def _bytes(journal: SqliteJournal) -> int:
    await journal.complete_history()
    wanted = "SELECT sum(length(body) + ifnull(length(pieces), 0)) FROM events"
    return int(await journal._database.read(lambda db: db.execute(wanted).fetchone()[0]))


def _views(events: list[Event]) -> list[TeamView]:
    views = [TeamView()]
    for event in events:
        views.append(team_view.fold(views[-1], event))
    return views


@pytest.mark.parametrize("seed", range(12))
async def test_a_reader_that_stopped_anywhere_gets_the_rest_and_nothing_twice(
    journal: SqliteJournal, seed: int
) -> None:
    chance = random.Random(seed)
    live: list[Event] = []
    drafts = _talk(chance)
    while drafts:
        together, drafts = drafts[: (size := chance.randint(1, 3))], drafts[size:]
        events = journal.stamp(together, at=float(len(live)))
        await journal.append(events)
        live += events
    assert await _rows(journal) < len(live)
    for after in range(len(live) + 1):
        # Nobody can tell that anything was folded.
        assert [decode_event(body) for _, body in await journal.read(after, 10_000)] == live[after:]
        page = [decode_event(body) for _, body in await journal.read(after, 5)]
        assert page == live[after : after + len(page)]
        assert len(page) >= min(5, len(live) - after)


class OvertakenConnection(sqlite3.Connection):
    """After the first look at the rows somebody else folds them."""

    def __init__(self, path: Path, events: Sequence[Event]) -> None:
        super().__init__(path, isolation_level=None)
        self._events = events

    def execute(self, *words: Any) -> sqlite3.Cursor:
        found = super().execute(*words)
        events, self._events = self._events, ()
        if not events:
            return found
        rows = found.fetchall()
        folded_turns.fold_turn(self, events)
        one = f"({', '.join('?' for _ in rows[0])})"
        return super().execute(f"VALUES {', '.join(one for _ in rows)}", [value for row in rows for value in row])


@pytest.mark.parametrize("limit", [5, 100])
async def test_a_reader_that_is_overtaken_between_two_looks_reads_nothing_twice(
    journal: SqliteJournal, tmp_path: Path, limit: int
) -> None:
    drafts = [Draft(worker="ann", turn="t", fact=Said(text=f"{number} ")) for number in range(9)]
    live = journal.stamp(drafts, at=1.0)
    await journal.append(live)
    with closing(OvertakenConnection(tmp_path / "store.db", live)) as db:
        read = folded_turns.read(db, 0, limit)
        assert db.execute("SELECT count(*) FROM events").fetchone() == (1,)
    assert [decode_event(body) for _, body in read] == list(live[:limit])


@pytest.mark.parametrize("seed", range(4))
async def test_a_slow_reader_that_is_overtaken_by_the_fold_loses_nothing(journal: SqliteJournal, seed: int) -> None:
    chance = random.Random(seed)
    live: list[Event] = []
    view, after = TeamView(), 0
    for draft in _talk(chance):
        events = journal.stamp([draft], at=float(len(live)))
        await journal.append(events)
        live += events
        if chance.random() < 0.3:
            for seq, body in await journal.read(after, chance.randint(1, 4)):
                after, view = seq, team_view.fold(view, decode_event(body))
    for _, body in await journal.read(after, 10_000):
        view = team_view.fold(view, decode_event(body))
    assert view == _views(live)[-1]


async def test_a_long_answer_is_few_rows_once_its_turn_is_over(journal: SqliteJournal) -> None:
    start = Draft(worker="ann", turn="m", fact=TurnStarted(message="m"))
    await journal.append(
        journal.stamp([Draft(worker="ann", fact=Hired(backend="demo", directory="/", by=ME)), start], 1.0)
    )
    pieces = [Draft(worker="ann", turn="m", fact=Said(text=f"word {number} ")) for number in range(2500)]
    await journal.append(journal.stamp(pieces, at=2.0))
    before, written = await _bytes(journal), await journal.read(0, 10_000)
    assert len(written) == 2502
    await journal.append(journal.stamp([Draft(worker="ann", turn="m", fact=TurnEnded(how=HowEnded.COMPLETED))], at=3.0))
    assert await _rows(journal) == 2 + 1 + 1
    assert await _bytes(journal) < before / 4
    assert (await journal.read(0, 10_000))[:-1] == written
    assert (await journal.load()).seq == 2503


async def test_what_is_folded_is_pruned_as_before_and_leaves_no_hole(journal: SqliteJournal) -> None:
    """A row goes with the last of its pieces: never while a reader may still ask for one of them."""
    live: list[Event] = []
    for number, draft in enumerate(_talk(random.Random(5))):
        events = journal.stamp([draft], at=float(number))
        await journal.append(events)
        live += events
    for before in range(0, len(live), 7):
        await journal.prune(float(before))
        first, last = await journal.bounds()
        for after in range(first - 1, last + 1):
            assert [decode_event(body) for _, body in await journal.read(after, 10_000)] == live[after:]


async def test_a_page_as_of_before_the_end_shows_the_turn_as_it_was(journal: SqliteJournal) -> None:
    facts: list[Fact] = [TurnStarted(message="m"), Said(text="one "), Said(text="two "), Said(text="three")]
    facts.append(TurnEnded(how=HowEnded.COMPLETED))
    drafts = [Draft(worker="ann", turn="m", fact=fact) for fact in facts]
    await journal.append(journal.stamp([Draft(worker="ann", fact=Hired(backend="demo", directory="/", by=ME))], at=1.0))
    await journal.append(journal.stamp(drafts, at=2.0))
    shown = (await journal.history("ann", None, 10, up_to=4)).open
    assert isinstance(shown, TurnEntry)
    assert (shown.view.text, shown.view.seq, shown.view.ended) == ("one two ", 4, None)


def test_runs_are_bounded_and_end_at_whatever_else_comes() -> None:
    def event(seq: int, fact: Fact) -> Event:
        return Event(seq=seq, at=0.0, worker="ann", turn="m", fact=fact)

    mixed: list[Fact] = [
        Said(text="a"),
        Said(text="b"),
        Thought(text="c"),
        Said(text="d"),
        ToolStarted(call="1", tool="t", title=""),
    ]
    events = [event(number, fact) for number, fact in enumerate([*mixed, Said(text="e"), Said(text="f")])]
    assert [[one.seq for one in run] for run in folded_turns.runs(events)] == [[0, 1], [5, 6]]
    long = [event(number, Said(text="x" * 20_000)) for number in range(4)]
    assert list(folded_turns.runs(long)) == []
    apart = [event(number, Said(text="x")) for number in (0, 1, folded_turns.FARTHEST + 1, folded_turns.FARTHEST + 2)]
    assert [[one.seq for one in run] for run in folded_turns.runs(apart)] == [[0, 1], [4097, 4098]]
