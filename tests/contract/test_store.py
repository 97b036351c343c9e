"""The store keeps what it was given, and says clearly when it cannot."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from farhand.model import errors
from farhand.model.commands import Accepted
from farhand.model.facts import Draft, Hired, Noted, Queued, Said, TurnStarted
from farhand.model.ports import Cursor, InboxEntry, Parcel
from farhand.model.present import Present, fold
from farhand.model.wire import decode_event
from farhand.model.words import Sender
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.store.outbox import SqliteOutbox
from farhand.store.schema import VERSION

pytestmark = pytest.mark.anyio
ME = Sender(via="test")
HIRED = Draft(worker="ann", fact=Hired(backend="demo", directory="/", by=ME))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "store.db")
    yield opened
    opened.close()


def said(text: str) -> Draft:
    return Draft(worker="ann", fact=Said(text=text))


async def test_events_are_numbered_without_gaps_and_read_back(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(journal.append, journal.stamp([said(str(number))], at=1.0))
    rows = await journal.read(0, 1000)
    assert [seq for seq, _ in rows] == list(range(1, 201))
    assert [decode_event(body).fact for _, body in rows] == [Said(text=str(number)) for number in range(200)]
    assert [seq for seq, _ in await journal.read(150, 10)] == list(range(151, 161))


async def test_a_command_is_remembered_with_its_answer_and_written_with_its_facts(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    entry = InboxEntry(via="tg", accepted=Accepted(id="1", seq=1, worker="ann"))
    await journal.append(journal.stamp([HIRED], at=1.0), inbox=entry, cursor=Cursor(owner="w", value="7"))
    assert await journal.seen("tg", "1") == entry.accepted
    assert await journal.seen("web", "1") is None
    assert await journal.cursor("w") == "7"
    assert await journal.cursor("other") == ""


async def test_what_cannot_be_written_is_not_half_written(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    entry = InboxEntry(via="tg", accepted=Accepted(id="1", seq=1))
    await journal.append(journal.stamp([HIRED], at=1.0), inbox=entry)
    before = await journal.load()
    with pytest.raises(errors.StoreError):
        await journal.append(journal.stamp([said("x")], at=1.0), inbox=entry)
    journal.rewind(1)
    assert await journal.load() == before
    await journal.append(journal.stamp([said("y")], at=1.0))
    assert len(await journal.read(0, 10)) == 2


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


async def test_the_tables_follow_the_journal(database: Database) -> None:
    journal = SqliteJournal(database)
    await journal.load()
    drafts = [
        HIRED,
        Draft(worker="ann", fact=Noted(text="x")),
        Draft(worker="gone", fact=Queued(message="q", text="", by=ME)),
    ]
    present = Present()
    for event in journal.stamp(drafts, at=1.0):
        await journal.append([event])
        present = fold(present, event)
    assert await journal.load() == present


async def test_a_newer_store_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(errors.StoreNewer, match="newer farhand"):
        Database(path)


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


async def test_the_outbox_keeps_order_and_coalesces_edits(database: Database) -> None:
    outbox = SqliteOutbox(database)

    def parcel(key: str, body: bytes, *, slot: str = "", edit: bool = False) -> Parcel:
        return Parcel(key=key, chat="c", body=body, slot=slot, edit=edit)

    await outbox.put("tg", [parcel("1", b"progress", slot="p"), parcel("2", b"edit 1", slot="p", edit=True)], "5")
    await outbox.put("tg", [parcel("3", b"edit 2", slot="p", edit=True), parcel("4", b"answer")], "6")
    await outbox.put("tg", [parcel("4", b"answer")], "6")
    waiting = await outbox.waiting("tg")
    assert [one.parcel.body for one in waiting] == [b"progress", b"edit 2", b"answer"]
    assert await outbox.cursor("tg") == "6"
    await outbox.begin(waiting[0].id)
    assert (await outbox.waiting("tg"))[0].doubtful
    await outbox.sent(waiting[0].id, "99")
    assert await outbox.reference("tg", "p") == "99"
    assert len(await outbox.waiting("tg")) == 2
    assert await outbox.waiting("other") == []
