"""The journal (write-ahead log of the team): events in order, written with the tables of the present in one commit."""

import math
import sqlite3
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from farhand.model.commands import Accepted
from farhand.model.errors import StoreError
from farhand.model.facts import AskSettled, Draft, Event, TurnEnded
from farhand.model.history import DayUsage, Found, HistoryPage
from farhand.model.present import Present
from farhand.model.store_ports import Cursor, InboxEntry
from farhand.model.wire import decode_event, encode
from farhand.model.words import Seq
from farhand.store import folded_turns, history, history_due, read_tables, tables
from farhand.store.database import Database
from farhand.store.open_turns import NO_TURN, KnownTurn, OpenTurns

_accepted = msgspec.json.Decoder(Accepted)
# Old events go in slices, so that nobody waits long behind them.
_SLICE = 2000
_PAGES = ("page_count", "freelist_count", "page_size")


class SqliteJournal:
    """The journal of one node."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._next = 1
        self._open_turns = OpenTurns()
        # The events of turns whose entries in the history are due, by their first number. Of the writing thread.
        self._at_hand: dict[Seq, tuple[Event, ...]] = {}

    async def load(self) -> Present:
        """The present from its tables; numbering goes on after it."""
        if await self._database.read(history_due.waits):
            await self._database.write(self._write_due)
        present = await self._database.read(read_tables.load)
        self._next = present.seq + 1
        self._open_turns.clear()
        started = [worker.turn.seq for worker in present.workers.values() if worker.turn]
        if started:
            self._open_turns.add([decode_event(body) for _, body in await self.read(min(started) - 1, -1)])
        return present

    def stamp(self, drafts: Sequence[Draft], at: float) -> tuple[Event, ...]:
        """Numbers the drafts."""
        first = self._next
        self._next += len(drafts)
        return tuple(
            Event(seq=first + index, at=at, worker=draft.worker, fact=draft.fact, turn=draft.turn)
            for index, draft in enumerate(drafts)
        )

    def rewind(self, seq: int) -> None:
        """Rolls the numbering back to `seq` after a failed write: what was stamped beyond it was never written."""
        self._next = seq + 1

    async def append(
        self, events: Sequence[Event], *, inbox: InboxEntry | None = None, cursor: Cursor | None = None
    ) -> tuple[bytes, ...]:
        """Writes them, or nothing. What a person sent is on the disk when this returns."""
        known = self._open_turns.add(events)

        def write(db: sqlite3.Connection) -> tuple[bytes, ...]:
            # What cannot be encoded fails here, in its place in the line.
            bodies = tuple(encode(event) for event in events)
            _insert(db, events, bodies)
            for event in events:
                self._apply(db, event, known.get(event.seq, NO_TURN))
            if inbox is not None:
                at = events[0].at if events else _last_at(db)
                db.execute(
                    "INSERT INTO inbox (via, command, at, accepted, fingerprint) VALUES (?, ?, ?, ?, ?)",
                    (inbox.via, inbox.accepted.id, at, encode(inbox.accepted), inbox.fingerprint),
                )
            if cursor is not None:
                db.execute("INSERT OR REPLACE INTO cursors (owner, value) VALUES (?, ?)", (cursor.owner, cursor.value))
            return bodies

        written = False
        try:
            bodies = await self._database.write(write, durable=inbox is not None)
            written = True
            return bodies
        finally:
            if not written:
                self._open_turns.clear()
                self._at_hand.clear()

    def _apply(self, db: sqlite3.Connection, event: Event, known: KnownTurn) -> None:
        if history.may_come_late(event, known):
            self._write_due(db)
        tables.apply(db, event, history.record(db, event, known))
        if isinstance(event.fact, TurnEnded):
            if known.events:
                self._at_hand[known.events[0].seq] = known.events
            self._database.put_off(self._write_due, at_most=history_due.MOST)

    def _write_due(self, db: sqlite3.Connection) -> None:
        history_due.write(db, self._at_hand)

    async def complete_history(self) -> None:
        """Writes the entries of turns that ended just now."""
        if await self._database.read(history_due.waits):
            await self._database.write(self._write_due)

    async def history(self, worker: str, before: int | None, limit: int, up_to: int) -> HistoryPage:
        """A page of the worker's past as it was at event `up_to`; with the open turn when `before` is None."""
        running = self._open_turns.of(worker, up_to)

        def read(db: sqlite3.Connection) -> HistoryPage | None:
            # One look: between two of them a turn may end.
            db.execute("BEGIN")
            try:
                is_whole = not history_due.waits(db)
                return history.page(db, worker, before, limit, up_to, running) if is_whole else None
            finally:
                db.execute("COMMIT")

        def complete(db: sqlite3.Connection) -> HistoryPage:
            self._write_due(db)
            return history.page(db, worker, before, limit, up_to, running)

        page = await self._database.read(read)
        return page if page is not None else await self._database.write(complete)

    async def search(self, query: str, worker: str, limit: int) -> list[Found]:
        """Where the words of the query were said, newest first."""
        await self.complete_history()
        return await self._database.read(lambda db: history.search(db, query, worker, limit))

    async def usage(self, days: int, at: float) -> list[DayUsage]:
        """What was used on that day and the days before it, so many in all."""
        await self.complete_history()
        return await self._database.read(lambda db: history.usage(db, days, at))

    async def seen(self, via: str, command: str) -> InboxEntry | None:
        """The stored answer to a command that was taken before, to deduplicate repeats; None for a new one."""

        def read(db: sqlite3.Connection) -> InboxEntry | None:
            wanted = "SELECT accepted, fingerprint FROM inbox WHERE via = ? AND command = ?"
            row = db.execute(wanted, (via, command)).fetchone()
            return InboxEntry(via=via, accepted=_accepted.decode(row[0]), fingerprint=row[1]) if row else None

        return self._database.read_now(read)

    async def read(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Events after that number, as they were written, oldest first: at least so many, if there are."""
        return await self._database.read(lambda db: folded_turns.read(db, after, limit))

    async def bounds(self) -> tuple[int, int]:
        """The numbers of the oldest event that is kept and of the newest; 1 and 0 for an empty journal."""
        return await self._database.read(_bounds)

    async def begin_epoch(self, epoch: str) -> None:
        """Writes down that the events from the next one on belong to this epoch."""

        def write(db: sqlite3.Connection) -> None:
            first, last = _bounds(db)
            db.execute("INSERT INTO epochs (id, first) VALUES (?, ?)", (epoch, last + 1))
            # Of epochs that have no event left, a reader could resume nothing.
            db.execute("DELETE FROM epochs WHERE number < (SELECT max(number) FROM epochs WHERE first <= ?)", (first,))

        await self._database.write(write)

    async def can_resume(self, epoch: str, after: int) -> bool:
        """Whether event `after` was of that epoch or before it, and all that followed is kept.

        A restored backup does not know the epochs after it, and ends its last one where the backup ends: numbers that
        were given twice are told apart."""

        def read(db: sqlite3.Connection) -> bool:
            row = db.execute("SELECT number FROM epochs WHERE id = ?", (epoch,)).fetchone()
            if row is None:
                return False
            first, last = _bounds(db)
            following = db.execute("SELECT first FROM epochs WHERE number > ? ORDER BY number", row).fetchone()
            return first - 1 <= after <= (last if following is None else following[0] - 1)

        return await self._database.read(read)

    async def bytes_after(self, after: int) -> int:
        """How much the events after that number take in the journal."""
        wanted = "SELECT ifnull(sum(length(body)), 0) FROM events WHERE seq > ?"
        return await self._database.read(lambda db: int(db.execute(wanted, (after,)).fetchone()[0]))

    async def cursor(self, owner: str) -> str:
        """The stored cursor of a wire or channel; empty at first."""

        def read(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT value FROM cursors WHERE owner = ?", (owner,)).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def settled(self, ask: str) -> AskSettled | None:
        """How an ask of the past was settled."""
        return await self._database.read(lambda db: read_tables.settled(db, ask))

    async def receipts(self) -> dict[str, str]:
        """The receipt of every message that is kept."""
        return await self._database.read(read_tables.receipts)

    async def prune(self, before: float) -> int:
        """Removes what is older and of no use to the present; returns how many events went."""

        def prune_slice(db: sqlite3.Connection) -> int:
            # What is due is made of what may go.
            self._write_due(db)
            return _prune_slice(db, before)

        gone = 0
        while True:
            count = await self._database.write(prune_slice)
            gone += count
            if count < _SLICE:
                break
        while await self._database.write(lambda db: history.prune(db, before, _SLICE)) == _SLICE:
            continue
        return gone

    async def size(self) -> int:
        """How many bytes are in use, without what is free in the file."""
        return await self._database.read(_used_bytes)

    async def shrink(self, most: int) -> int:
        """Removes the oldest, a tenth at a time, until no more bytes are in use or nothing more may go."""
        gone, used = 0, await self.size()
        while used > most:
            before = await self._database.read(_early)
            count = await self.prune(before)
            gone, used, known = gone + count, await self.size(), used
            if not count and used >= known:
                break
        return gone


def _used_bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in _PAGES)
    return (pages - free) * size


def _early(db: sqlite3.Connection) -> float:
    """Just after the latest time in the first tenth of what is kept."""
    first, last = _bounds(db)
    place = first + (last - first) // 10
    row = db.execute("SELECT seq FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", (place,)).fetchone()
    if row is None:
        return 0.0
    latest = db.execute("SELECT max(at) FROM events WHERE seq <= ?", row).fetchone()[0]
    return math.nextafter(float(latest), math.inf)


def _insert(db: sqlite3.Connection, events: Sequence[Event], bodies: Sequence[bytes]) -> None:
    if not events:
        return
    last = db.execute("SELECT max(seq) FROM events").fetchone()[0] or 0
    if events[0].seq != last + 1:
        raise StoreError(f"Event {events[0].seq} cannot follow event {last}: something before it was not written.")
    db.executemany(
        "INSERT INTO events (seq, at, body) VALUES (?, ?, ?)",
        [(event.seq, event.at, body) for event, body in zip(events, bodies, strict=True)],
    )


def _bounds(db: sqlite3.Connection) -> tuple[int, int]:
    first, last = db.execute("SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)").fetchone()
    return first or 1, last or 0


def _last_at(db: sqlite3.Connection) -> float:
    row = db.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return float(row[0]) if row else 0.0


def _prune_slice(db: sqlite3.Connection, before: float) -> int:
    # An open turn is drawn from its first event, so nothing from there on may go; the last number is kept always.
    keep = db.execute("SELECT min(seq) FROM turns").fetchone()[0]
    last = db.execute("SELECT max(seq) FROM events").fetchone()[0] or 0
    limit = min(last, keep if keep is not None else last)
    rows = db.execute("SELECT seq, at FROM events WHERE seq < ? ORDER BY seq LIMIT ?", (limit, _SLICE))
    # A clock that was set back gives later events earlier times: what goes is the beginning, without a hole behind it.
    old = [row[0] for row in takewhile(lambda row: row[1] < before, rows)]
    count = db.execute("DELETE FROM events WHERE seq <= ?", (old[-1],)).rowcount if old else 0
    if count < _SLICE:
        db.execute("DELETE FROM inbox WHERE at < ?", (before,))
        db.execute("DELETE FROM messages WHERE at < ? AND turn IS NULL AND receipt <> 'queued'", (before,))
        db.execute("DELETE FROM asks WHERE at < ? AND open = 0", (before,))
        db.execute("DELETE FROM outbox WHERE state IN ('sent', 'failed') AND id < (SELECT max(id) - 10000 FROM outbox)")
    return count
