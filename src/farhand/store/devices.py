"""The table of devices: who was paired, and the digest of each one's key."""

import sqlite3
from typing import Any

from farhand.model.devices import Device
from farhand.store.database import Database

_COLUMNS = "id, name, paired_at, last_seen, read_only"


class SqliteDevices:
    """The devices of one node."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, device: Device, digest: str) -> None:
        """Keeps a device and the digest of its key."""

        def write(db: sqlite3.Connection) -> None:
            values = (device.id, device.name, device.paired_at, device.last_seen, device.read_only, digest)
            db.execute(
                "INSERT INTO devices (id, name, paired_at, last_seen, read_only, digest) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )

        await self._database.write(write, durable=True)

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

    async def remove(self, device: str) -> bool:
        """Forgets a device, its key and the passkeys that it made; whether there was one."""

        def write(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM passkeys WHERE device = ?", (device,))
            return db.execute("DELETE FROM devices WHERE id = ?", (device,)).rowcount > 0

        return await self._database.write(write, durable=True)

    async def seen(self, device: str, at: float) -> None:
        """Notes when a device was last heard of."""
        await self._database.write(
            lambda db: db.execute("UPDATE devices SET last_seen = ? WHERE id = ?", (at, device)).rowcount
        )


def _device(row: tuple[Any, ...]) -> Device:
    return Device(id=row[0], name=row[1], paired_at=row[2], last_seen=row[3], read_only=bool(row[4]))
