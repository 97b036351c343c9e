"""The outbox, two queues per chat: filled in the transaction that moves the channel's cursor, marked around sends."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from farhand.model.store_ports import Parcel, Waiting
from farhand.store.database import Database

# A body that is longer goes when it was sent.
_MOST_KEPT_BYTES = 32_768


class SqliteOutbox:
    """The outbox of one node, for all its channels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, channel: str, parcels: Sequence[Parcel], cursor: str | None = None) -> None:
        """Enqueues the parcels, deduplicated by key, and moves the cursor; a newer edit replaces a queued one."""

        def write(db: sqlite3.Connection) -> None:
            for parcel in parcels:
                _put(db, channel, parcel)
            if cursor is not None:
                owner = f"channel:{channel}"
                db.execute("INSERT OR REPLACE INTO cursors (owner, value) VALUES (?, ?)", (owner, cursor))

        await self._database.write(write)

    async def cursor(self, channel: str) -> str:
        """The channel's cursor in the journal; empty at first."""

        def read(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT value FROM cursors WHERE owner = ?", (f"channel:{channel}",)).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def lanes(self, channel: str) -> list[tuple[str, bool]]:
        """Which chats something waits for, each with whether it is urgent; the urgent ones first."""
        return await self._database.read(
            lambda db: [
                (str(row[0]), bool(row[1]))
                for row in db.execute(
                    "SELECT chat, urgent FROM outbox WHERE channel = ? AND state IN ('waiting', 'sending')"
                    " GROUP BY urgent, chat ORDER BY urgent DESC, min(id)",
                    (channel,),
                )
            ]
        )

    async def waiting(self, channel: str, chat: str, limit: int = 1000, *, urgent: bool = False) -> list[Waiting]:
        """What is unsent in one lane, in order. A send that was begun and never marked was cut off by a kill."""

        def read(db: sqlite3.Connection) -> list[Waiting]:
            rows = db.execute(
                "SELECT id, key, chat, body, slot, edit, attempts, doubtful, state = 'sending', urgent FROM outbox"
                " WHERE channel = ? AND chat = ? AND urgent = ? AND state IN ('waiting', 'sending')"
                " ORDER BY id LIMIT ?",
                (channel, chat, urgent, limit),
            )
            return [_waiting(row) for row in rows]

        # The first alone is one row by its index, and on its way nobody waits for a thread.
        return self._database.read_now(read) if limit == 1 else await self._database.read(read)

    async def begin(self, waiting: int) -> None:
        """Marks that a send begins; a kill after this leaves it doubtful."""
        await self._change("UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE id = ?", (waiting,))

    async def sent(self, waiting: int, reference: str) -> None:
        """Marks it as sent. What was long is not kept beside the journal, which has it."""
        await self._change(
            "UPDATE outbox SET state = 'sent', reference = ?, body = CASE WHEN length(body) > ? THEN x'' ELSE body END"
            " WHERE id = ?",
            (reference, _MOST_KEPT_BYTES, waiting),
        )

    async def failed(self, waiting: int, why: str) -> None:
        """Gives it up, with the reason."""
        await self._change("UPDATE outbox SET state = 'failed', problem = ? WHERE id = ?", (why, waiting))

    async def again(self, waiting: int) -> None:
        """Retry: it certainly did not arrive, so it waits again, and nothing is in doubt."""
        await self._change("UPDATE outbox SET state = 'waiting' WHERE id = ?", (waiting,))

    async def doubt(self, waiting: int) -> None:
        """Retry in doubt (a time-out): its answer never came, so it waits again and is marked."""
        await self._change("UPDATE outbox SET state = 'waiting', doubtful = doubtful + 1 WHERE id = ?", (waiting,))

    async def reference(self, channel: str, slot: str) -> str:
        """What the surface called the first message of that slot."""

        def read(db: sqlite3.Connection) -> str:
            row = db.execute(
                "SELECT reference FROM outbox WHERE channel = ? AND slot = ? AND state = 'sent' AND edit = 0"
                " ORDER BY id LIMIT 1",
                (channel, slot),
            ).fetchone()
            return str(row[0]) if row else ""

        return self._database.read_now(read)

    async def slot(self, channel: str, chat: str, reference: str) -> str:
        """The slot of the message that the surface calls so."""

        def read(db: sqlite3.Connection) -> str:
            row = db.execute(
                "SELECT slot FROM outbox WHERE channel = ? AND chat = ? AND reference = ? AND edit = 0 AND slot <> ''"
                " ORDER BY id DESC LIMIT 1",
                (channel, chat, reference),
            ).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def slots(self, channel: str, beginning: str) -> list[str]:
        """The slots that begin so."""

        def read(db: sqlite3.Connection) -> list[str]:
            # No character comes after the last of them all, and text is compared by its bytes.
            rows = db.execute(
                "SELECT slot FROM outbox WHERE channel = ? AND slot >= ? AND slot < ? AND slot <> '' AND edit = 0"
                " ORDER BY id",
                (channel, beginning, f"{beginning}\U0010ffff"),
            )
            return list(dict.fromkeys(str(row[0]) for row in rows))

        return await self._database.read(read)

    async def find(self, channel: str, chat: str, reference: str) -> Parcel | None:
        """The parcel of the message that the surface calls so."""

        def read(db: sqlite3.Connection) -> Parcel | None:
            row = db.execute(
                "SELECT key, chat, body, slot, edit, urgent FROM outbox WHERE channel = ? AND chat = ?"
                " AND reference = ? AND state = 'sent' ORDER BY id DESC LIMIT 1",
                (channel, chat, reference),
            ).fetchone()
            if row is None or not row[2]:
                return None
            return Parcel(key=row[0], chat=row[1], body=row[2], slot=row[3], edit=bool(row[4]), urgent=bool(row[5]))

        return await self._database.read(read)

    async def references(self, channel: str, chat: str, limit: int) -> list[str]:
        """What the surface called the newest messages of that chat, the newest first."""

        def read(db: sqlite3.Connection) -> list[str]:
            rows = db.execute(
                "SELECT reference FROM outbox WHERE channel = ? AND chat = ? AND state = 'sent' AND edit = 0"
                " AND reference <> '' ORDER BY id DESC LIMIT ?",
                (channel, chat, limit),
            )
            return [str(row[0]) for row in rows]

        return await self._database.read(read)

    async def _change(self, statement: str, values: tuple[Any, ...]) -> None:
        await self._database.write(lambda db: db.execute(statement, values).rowcount)


def _put(db: sqlite3.Connection, channel: str, parcel: Parcel) -> None:
    if parcel.edit and parcel.slot:
        known = db.execute("SELECT 1 FROM outbox WHERE channel = ? AND key = ?", (channel, parcel.key)).fetchone()
        replaced = 0
        if known is None:
            # The place in the line stays; only what is said there is newer.
            replaced = db.execute(
                "UPDATE outbox SET key = ?, body = ? WHERE id = (SELECT max(id) FROM outbox WHERE channel = ?"
                " AND slot = ? AND edit = 1 AND state = 'waiting' AND doubtful = 0)",
                (parcel.key, parcel.body, channel, parcel.slot),
            ).rowcount
        if known is not None or replaced:
            return
    db.execute(
        "INSERT OR IGNORE INTO outbox (channel, key, chat, slot, edit, body, urgent) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (channel, parcel.key, parcel.chat, parcel.slot, parcel.edit, parcel.body, parcel.urgent),
    )


def _waiting(row: tuple[Any, ...]) -> Waiting:
    parcel = Parcel(key=row[1], chat=row[2], body=row[3], slot=row[4], edit=bool(row[5]), urgent=bool(row[9]))
    return Waiting(id=row[0], parcel=parcel, attempts=row[6], doubts=row[7], cut_off=bool(row[8]))
