"""The table of devices: who was paired, and the digest of each one's key."""

import sqlite3
from typing import Any

from farhand.model.devices import Device
from farhand.store.database import Database

_COLUMNS = "id, name, paired_at, last_seen, read_only, came_by"
_WITH_DESCENDANTS = (
    "WITH RECURSIVE gone(id) AS (SELECT id FROM devices WHERE id = ?"
    " UNION SELECT devices.id FROM devices JOIN gone ON devices.came_by = gone.id) SELECT id FROM gone"
)


class SqliteDevices:
    """The devices of one node."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, device: Device, digest: str) -> bool:
        """Keeps a device and the digest of its key; not where the one that let it in is gone."""

        def write(db: sqlite3.Connection) -> bool:
            known = "SELECT 1 FROM devices WHERE id = ?"
            if device.came_by and db.execute(known, (device.came_by,)).fetchone() is None:
                return False
            values = (device.id, device.name, device.paired_at, device.last_seen, device.read_only, device.came_by)
            db.execute(f"INSERT INTO devices ({_COLUMNS}, digest) VALUES (?, ?, ?, ?, ?, ?, ?)", (*values, digest))  # noqa: S608
            return True

        return await self._database.write(write, durable=True)

    def with_digest(self, digest: str) -> Device | None:
        """The device that has this key."""
        row = self._database.read_now(
            lambda db: db.execute(f"SELECT {_COLUMNS} FROM devices WHERE digest = ?", (digest,)).fetchone()  # noqa: S608
        )
        return _device(row) if row else None

    def digests(self) -> frozenset[str]:
        """The digests of all keys."""
        rows = self._database.read_now(lambda db: db.execute("SELECT digest FROM devices").fetchall())
        return frozenset(str(digest) for (digest,) in rows)

    def has(self, device: str) -> bool:
        """Whether the device is still paired."""
        return self._database.read_now(
            lambda db: db.execute("SELECT 1 FROM devices WHERE id = ?", (device,)).fetchone() is not None
        )

    async def all(self) -> list[Device]:
        """Every device, the newest first."""
        rows = await self._database.read(
            lambda db: db.execute(f"SELECT {_COLUMNS} FROM devices ORDER BY paired_at DESC, id").fetchall()  # noqa: S608
        )
        return [_device(row) for row in rows]

    async def remove(self, device: str) -> tuple[str, ...]:
        """Forgets a device and whoever came in by its passkeys, with their keys and passkeys; all of these."""

        def write(db: sqlite3.Connection) -> tuple[str, ...]:
            gone = [(str(one),) for (one,) in db.execute(_WITH_DESCENDANTS, (device,)).fetchall()]
            db.executemany("DELETE FROM passkeys WHERE device = ?", gone)
            db.executemany("DELETE FROM devices WHERE id = ?", gone)
            return tuple(one for (one,) in gone)

        return await self._database.write(write, durable=True)

    async def seen(self, device: str, at: float) -> None:
        """Notes when a device was last heard of."""
        await self._database.write(
            lambda db: db.execute("UPDATE devices SET last_seen = ? WHERE id = ?", (at, device)).rowcount
        )


def _device(row: tuple[Any, ...]) -> Device:
    return Device(id=row[0], name=row[1], paired_at=row[2], last_seen=row[3], read_only=bool(row[4]), came_by=row[5])
