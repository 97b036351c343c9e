"""What the rules of attention remember, and where devices can be reached by push: single rows."""

import sqlite3

import msgspec

from farhand.model.attention_rules import AttentionState
from farhand.model.push import PushSubscription
from farhand.model.words import replace
from farhand.store.database import Database

_states = msgspec.json.Decoder(AttentionState)
_subscriptions = msgspec.json.Decoder(PushSubscription)


class SqliteAttention:
    """The state of one node's rules."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> AttentionState | None:
        """What was kept; None at the first start, and where it cannot be read any more."""
        row = await self._database.read(lambda db: db.execute("SELECT state FROM attention_state").fetchone())
        try:
            return _states.decode(row[0]) if row else None
        except msgspec.MsgspecError:
            return None

    async def keep(self, state: AttentionState) -> None:
        """Keeps it."""
        body = msgspec.json.encode(state)

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO attention_state (one, state) VALUES (1, ?)", (body,))

        await self._database.write(write)


class SqlitePush:
    """The subscriptions of one node's devices."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[PushSubscription]:
        """Every subscription of a device that is still paired."""
        rows = self._database.read_now(
            lambda db: db.execute(
                "SELECT body, read_only FROM push_subscriptions JOIN devices ON id = device ORDER BY device"
            ).fetchall()
        )
        return [replace(_subscriptions.decode(body), read_only=bool(read_only)) for body, read_only in rows]

    async def keep(self, subscription: PushSubscription) -> None:
        """Keeps a device's subscription in place of the one before."""
        row = (subscription.device, msgspec.json.encode(subscription))

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO push_subscriptions (device, body) VALUES (?, ?)", row)
            db.execute("DELETE FROM push_subscriptions WHERE device NOT IN (SELECT id FROM devices)")

        await self._database.write(write, durable=True)

    async def remove(self, device: str, endpoint: str = "") -> bool:
        """Forgets a device's subscription, or that one alone; whether there was one."""

        def write(db: sqlite3.Connection) -> bool:
            row = db.execute("SELECT body FROM push_subscriptions WHERE device = ?", (device,)).fetchone()
            if row is None or (endpoint and _subscriptions.decode(row[0]).endpoint != endpoint):
                return False
            db.execute("DELETE FROM push_subscriptions WHERE device = ?", (device,))
            return True

        return await self._database.write(write, durable=True)
