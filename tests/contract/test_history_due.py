"""The entry of a turn is written after its end: whoever looks finds it, and no kill before that loses it."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from farhand.model import facts
from farhand.model.facts import Draft
from farhand.model.history import TurnEntry
from farhand.model.words import HowEnded, Sender
from farhand.store import history_due
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

pytestmark = pytest.mark.anyio
ME = Sender(via="test")
TURNS = 5
# Ends turns, each with a message that joined it, and is killed before it can come to rest.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.contract.test_history_due import TURNS, write_turns
from farhand.store import database
from farhand.store.journal import SqliteJournal
database._REST_SECONDS = 3600.0

async def run():
    journal = SqliteJournal(database.Database(Path(sys.argv[1])))
    await journal.load()
    await write_turns(journal, TURNS)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(run())
"""


async def write_turns(journal: SqliteJournal, count: int, how: HowEnded = HowEnded.COMPLETED) -> None:
    """Whole turns of one worker, each event in a write of its own."""
    await _append(journal, None, facts.Hired(backend="demo", directory="/", by=ME))
    for number in range(count):
        turn = f"t{number}"
        for fact in (
            facts.Queued(message=turn, text=f"question {number}", by=ME),
            facts.TurnStarted(message=turn),
            facts.HandedOver(message=turn),
            facts.Queued(message=f"{turn}-more", text=f"besides {number}", by=ME, steer=True),
            facts.HandedOver(message=f"{turn}-more"),
            facts.Said(text=f"answer {number}, "),
            facts.Said(text="in two pieces"),
            facts.TurnEnded(how=how),
        ):
            await _append(journal, None if isinstance(fact, facts.Queued) else turn, fact)


async def _append(journal: SqliteJournal, turn: str | None, fact: facts.Fact) -> None:
    await journal.append(journal.stamp([Draft(worker="ann", turn=turn, fact=fact)], at=1.0))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "store.db")
    yield opened
    opened.close()


def due(path: Path) -> int:
    """How many entries nobody has written yet."""
    with sqlite3.connect(path) as store:
        return int(store.execute("SELECT count(*) FROM history_due").fetchone()[0])


async def entries(journal: SqliteJournal) -> list[tuple[list[str], str]]:
    """What was said to each turn that ended, and in it."""
    page = await journal.history("ann", None, 100, 10_000)
    turns = [entry for entry in page.entries if isinstance(entry, TurnEntry)]
    assert all(turn.view.ended is not None for turn in turns)
    return [([message.text for message in turn.messages], turn.view.text) for turn in turns]


WANTED = [([f"question {number}", f"besides {number}"], f"answer {number}, in two pieces") for number in range(TURNS)]


async def test_a_kill_before_the_entries_are_written_loses_none_of_them(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert due(path) == TURNS
    opened = Database(path)
    try:
        journal = SqliteJournal(opened)
        await journal.load()
        assert due(path) == 0
        assert await entries(journal) == WANTED
        assert len(await journal.search("pieces", "", 50)) == TURNS
        assert [seq for seq, _ in await journal.read(0, 1000)] == list(range(1, 2 + 8 * TURNS))
    finally:
        opened.close()


async def test_whoever_reads_finds_a_turn_that_ended_just_now(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.store.database._REST_SECONDS", 3600.0)
    journal = SqliteJournal(database)
    await journal.load()
    await write_turns(journal, TURNS)
    assert due(database.path) == TURNS
    assert await entries(journal) == WANTED
    assert due(database.path) == 0


@pytest.mark.parametrize("look", ["search", "usage"])
async def test_a_search_and_a_count_find_it_too(database: Database, monkeypatch: pytest.MonkeyPatch, look: str) -> None:
    monkeypatch.setattr("farhand.store.database._REST_SECONDS", 3600.0)
    journal = SqliteJournal(database)
    await journal.load()
    await write_turns(journal, TURNS)
    if look == "search":
        assert len(await journal.search("besides", "ann", 50)) == TURNS
    else:
        assert [day.turns for day in await journal.usage(3, at=1.0)] == [TURNS]


async def test_what_comes_after_the_end_changes_the_entry_that_was_due(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.store.database._REST_SECONDS", 3600.0)
    journal = SqliteJournal(database)
    await journal.load()
    await write_turns(journal, 1, HowEnded.FAILED)
    await _append(journal, "t0", facts.Doubted(message="t0", why="who knows"))
    assert due(database.path) == 0
    page = await journal.history("ann", None, 100, 10_000)
    turn = page.entries[-1]
    assert isinstance(turn, TurnEntry)
    assert [message.text for message in turn.messages] == ["question 0", "besides 0"]


async def test_a_store_that_never_rests_writes_them_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.store.database._REST_SECONDS", 3600.0)
    monkeypatch.setattr(history_due, "MOST", 3)
    journal = SqliteJournal(database)
    await journal.load()
    await write_turns(journal, TURNS)
    await database.write(lambda _: None)
    assert due(database.path) == TURNS - 3


async def test_a_store_that_is_closed_has_nothing_due(tmp_path: Path) -> None:
    opened = Database(tmp_path / "store.db")
    journal = SqliteJournal(opened)
    await journal.load()
    await write_turns(journal, TURNS)
    opened.close()
    assert due(tmp_path / "store.db") == 0


async def test_what_is_pruned_is_in_the_history_first(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farhand.store.database._REST_SECONDS", 3600.0)
    journal = SqliteJournal(database)
    await journal.load()
    await write_turns(journal, TURNS)
    # As old as that is nothing in the history, so it stays there; the events go.
    await database.write(lambda db: db.execute("UPDATE events SET at = 0.5").rowcount)
    assert await journal.prune(before=0.9) > 0
    assert await entries(journal) == WANTED
