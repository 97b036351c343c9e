"""The table of passkeys: what each one's signatures are checked by, and which device made it."""

import sqlite3
from typing import Any

from farhand.model.passkeys import Passkey, StoredPasskey
from farhand.store.database import Database

_COLUMNS = "id, name, site, device, made_at, used_at"


class SqlitePasskeys:
    """The passkeys of one node."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, passkey: StoredPasskey) -> bool:
        """Keeps one; False, and nothing is kept, where its device is gone or its id is taken."""
        one = passkey.passkey
        values = (one.id, one.name, one.site, one.device, one.made_at, 0.0, passkey.public_key, passkey.sign_count)

        def write(db: sqlite3.Connection) -> bool:
            # In one step with the look at the device: it may be revoked at any time.
            added = db.execute(
                f"INSERT OR IGNORE INTO passkeys ({_COLUMNS}, public_key, sign_count)"  # noqa: S608
                " SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM devices WHERE id = ?)",
                (*values, one.device),
            )
            return added.rowcount > 0

        return await self._database.write(write, durable=True)

    async def find(self, passkey: str) -> StoredPasskey | None:
        """The one of that id."""
        wanted = f"SELECT {_COLUMNS}, public_key, sign_count FROM passkeys WHERE id = ?"  # noqa: S608
        row = await self._database.read(lambda db: db.execute(wanted, (passkey,)).fetchone())
        return StoredPasskey(passkey=_passkey(row), public_key=row[6], sign_count=row[7]) if row else None

    async def all(self) -> list[Passkey]:
        """Every one, the newest first."""
        wanted = f"SELECT {_COLUMNS} FROM passkeys ORDER BY made_at DESC, id"  # noqa: S608
        return [_passkey(row) for row in await self._database.read(lambda db: db.execute(wanted).fetchall())]

    async def used(self, passkey: str, sign_count: int, at: float) -> bool:
        """Notes that it was used, and how often its authenticator says it has signed; whether it is still there."""
        change = "UPDATE passkeys SET sign_count = ?, used_at = ? WHERE id = ?"
        return await self._database.write(
            lambda db: db.execute(change, (sign_count, at, passkey)).rowcount > 0, durable=True
        )

    async def remove(self, passkey: str) -> bool:
        """Forgets one; whether there was one."""
        return await self._database.write(
            lambda db: db.execute("DELETE FROM passkeys WHERE id = ?", (passkey,)).rowcount > 0, durable=True
        )


def _passkey(row: tuple[Any, ...]) -> Passkey:
    return Passkey(id=row[0], name=row[1], site=row[2], device=row[3], made_at=row[4], used_at=row[5])
