"""Who the manager is on each channel: in the store, so that a file that somebody rewrites changes nothing."""

import sqlite3

from farhand.model.channel_ports import Manager
from farhand.store.database import Database

READ = "SELECT chat, person, name FROM managers WHERE channel = ?"
WRITE = (
    "INSERT INTO managers (channel, chat, person, name) VALUES (?, ?, ?, ?) ON CONFLICT (channel) DO UPDATE SET"
    " former = CASE WHEN managers.chat IN ('', excluded.chat) THEN managers.former ELSE managers.chat END,"
    " chat = excluded.chat, person = excluded.person, name = excluded.name"
)


class SqliteManagers:
    """The managers of one node. These are single rows, written once in a while: the caller waits for the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def manager(self, channel: str) -> Manager | None:
        """The manager there; one without a chat when nobody is, None when nobody was ever asked for."""

        def read(db: sqlite3.Connection) -> Manager | None:
            row = db.execute(READ, (channel,)).fetchone()
            return Manager(chat=row[0], person=row[1], name=row[2]) if row else None

        return self._database.read_now(read)

    def keep_manager(self, channel: str, manager: Manager) -> None:
        """Keeps it, on the disk when this returns. Whoever it was before is the former one until that is told."""
        row = (channel, manager.chat, manager.person, manager.name)
        self._database.write_now(lambda db: db.execute(WRITE, row))

    def former_chat(self, channel: str) -> str:
        """The chat of the one before, who has not been told yet; empty when there is nobody to tell."""

        def read(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT former FROM managers WHERE channel = ?", (channel,)).fetchone()
            return str(row[0]) if row else ""

        return self._database.read_now(read)

    def former_told(self, channel: str) -> None:
        """The one before has been told."""
        self._database.write_now(lambda db: db.execute("UPDATE managers SET former = '' WHERE channel = ?", (channel,)))

    def channels(self) -> list[str]:
        """The channels on which somebody was asked for."""
        rows = self._database.read_now(
            lambda db: db.execute("SELECT channel FROM managers ORDER BY channel").fetchall()
        )
        return [str(row[0]) for row in rows]
