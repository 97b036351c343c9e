"""The store keeps what it was given, and says clearly when it cannot."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from farhand.model import errors
from farhand.model.commands import Accepted
from farhand.model.facts import Draft, Fact, HandedOver, Queued, Said, TurnEnded, TurnStarted
from farhand.model.history import TurnEntry
from farhand.model.store_ports import InboxEntry, Journal, Outbox
from farhand.model.words import HowEnded
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.store.outbox import SqliteOutbox
from farhand.store.schema import MIGRATIONS, VERSION
from farhand.testing.contracts.store import HIRED, ME, StoreContract, said

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "store.db")
    yield opened
    opened.close()


async def test_one_bad_write_does_not_cost_its_neighbours(database: Database) -> None:
    outcomes: list[str] = []

    async def write(name: str, statement: str) -> None:
        try:
            await database.write(lambda db: db.execute(statement).rowcount)
            outcomes.append(f"{name} done")
        except errors.StoreError:
            outcomes.append(f"{name} failed")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, "first", "INSERT INTO cursors VALUES ('a', '1')")
        tasks.start_soon(write, "second", "INSERT INTO nowhere VALUES (1)")
        tasks.start_soon(write, "third", "INSERT INTO cursors VALUES ('b', '2')")
    assert sorted(outcomes) == ["first done", "second failed", "third done"]


async def test_retention_keeps_the_present_and_the_numbering(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    queued = Draft(worker="ann", fact=Queued(message="m", text="hi", by=ME))
    started = Draft(worker="ann", turn="m", fact=TurnStarted(message="m"))
    await journal.append(journal.stamp([HIRED, said("old"), queued, started, said("now")], at=1.0))
    before = await journal.load()
    assert await journal.prune(before=100.0) == 3
    assert await journal.load() == before
    assert [seq for seq, _ in await journal.read(0, 10)] == [4, 5]


async def test_a_clock_that_was_set_back_makes_no_hole_in_the_journal(database: Database) -> None:
    """A reader is given everything after a number, or is told of a gap: what goes, goes from the beginning."""
    journal = SqliteJournal(database)
    await journal.load()
    for at in (200.0, 1.0, 300.0):
        await journal.append(journal.stamp([HIRED, said("one"), said("two")], at=at))
    assert await journal.prune(before=100.0) == 0
    assert [seq for seq, _ in await journal.read(0, 10)] == list(range(1, 10))
    assert await journal.prune(before=250.0) == 6
    assert [seq for seq, _ in await journal.read(0, 10)] == [7, 8, 9]


async def test_a_journal_whose_clock_was_set_back_shrinks_all_the_same(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    for number in range(200):
        await journal.append(journal.stamp([said("word " * 200)], at=1000.0 - number))
    half = await journal.size() // 2
    await journal.shrink(half)
    first, last = await journal.bounds()
    assert await journal.size() <= half
    assert (first > 1, last) == (True, 200)
    assert [seq for seq, _ in await journal.read(0, 500)] == list(range(first, 201))


async def test_a_command_that_changed_nothing_is_remembered_as_long_as_any_other(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    await journal.append(journal.stamp([HIRED], at=200.0))
    await journal.append((), inbox=InboxEntry(via="test", accepted=Accepted(id="end-again", seq=1)))
    await journal.prune(before=100.0)
    assert await journal.seen("test", "end-again") is not None
    await journal.append(journal.stamp([said("later")], at=400.0))
    await journal.prune(before=300.0)
    assert await journal.seen("test", "end-again") is None


async def test_a_newer_store_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(errors.StoreNewer, match="newer farhand"):
        Database(path)


async def test_an_older_store_is_brought_up_to_date_with_all_it_has(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as db:
        db.executescript(MIGRATIONS[0])
        db.execute("PRAGMA user_version = 1")
        db.execute(
            "INSERT INTO workers (name, since, backend, directory, model, mode, options)"
            " VALUES ('ann', 1, 'demo', '/', '', 'default', '{}')"
        )
    db.close()
    database = Database(path)
    assert list((await SqliteJournal(database).load()).workers) == ["ann"]
    database.close()


async def test_a_damaged_store_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is no database at all, but somebody's letters" * 100)
    before = path.read_bytes()
    with pytest.raises(errors.StoreCorrupt, match="It was left as it is"):
        Database(path)
    assert path.read_bytes() == before


async def test_a_locked_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(errors.StoreLocked, match="Another program holds"):
            await anyio.to_thread.run_sync(Database, path)
    finally:
        holder.close()


async def test_a_full_store_is_told_and_goes_on_when_there_is_room(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    pages = await database.write(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    await database.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone())
    with pytest.raises(errors.StoreFull, match="Nothing was half written"):
        await journal.append(journal.stamp([said("x" * 1_000_000)], at=1.0))
    journal.rewind(0)
    await database.write(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
    await journal.append(journal.stamp([said("x" * 1_000_000)], at=1.0))
    assert len(await journal.read(0, 10)) == 1


class TestSqlite(StoreContract):
    @pytest.fixture
    def journal(self, database: Database) -> Journal:
        return SqliteJournal(database)

    @pytest.fixture
    def outbox(self, database: Database) -> Outbox:
        return SqliteOutbox(database)


async def test_an_older_journal_gets_its_history(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = Database(path)
    journal = SqliteJournal(database)
    await journal.load()
    queued = Draft(worker="ann", fact=Queued(message="m", text="hi", by=ME))
    joins = Draft(worker="ann", fact=Queued(message="j", text="and this", by=ME))
    turn: list[Fact] = [TurnStarted(message="m"), Said(text="An"), Said(text="swer"), HandedOver(message="j")]
    over = TurnEnded(how=HowEnded.COMPLETED)
    drafts = [HIRED, queued, joins, *(Draft(worker="ann", turn="m", fact=fact) for fact in [*turn, over])]
    await journal.append(journal.stamp(drafts, at=1.0))
    as_written = await journal.history("ann", None, 10, up_to=100)
    assert [message.text for entry in as_written.entries if isinstance(entry, TurnEntry) for message in entry.messages]
    database.close()
    older = tmp_path / "older.db"
    with sqlite3.connect(older) as db:
        db.executescript("".join(MIGRATIONS[:5]))
        db.execute(f"ATTACH '{path}' AS newer")
        db.execute("INSERT INTO events SELECT seq, at, body FROM newer.events")
        db.execute("PRAGMA user_version = 5")
    db.close()
    database = Database(older)
    journal = SqliteJournal(database)
    await journal.load()
    assert await journal.history("ann", None, 10, up_to=100) == as_written
    assert [found.worker for found in await journal.search("answer", "", 10)] == ["ann"]
    database.close()


async def test_history_goes_with_retention_and_is_found_no_more(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    for name, at in (("old", 1.0), ("new", 200.0)):
        queued = Draft(worker="ann", fact=Queued(message=name, text=f"{name} words", by=ME))
        turn: list[Fact] = [TurnStarted(message=name), TurnEnded(how=HowEnded.COMPLETED)]
        drafts = [HIRED, queued, *(Draft(worker="ann", turn=name, fact=fact) for fact in turn)]
        await journal.append(journal.stamp(drafts, at=at))
    await journal.prune(before=100.0)
    assert [found.excerpt for found in await journal.search("words", "", 10)] == ["new words"]
    assert len((await journal.history("ann", None, 10, up_to=100)).entries) == 2
