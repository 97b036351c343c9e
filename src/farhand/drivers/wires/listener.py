"""Who listens on a port of this machine, as the kernel tells: one that a server has left is anybody's."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

TABLE = Path("/proc/net/tcp")
_LISTENING = "0A"
_ROOT = 0


def listeners(port: int, table: Path = TABLE) -> frozenset[int]:
    """The users who listen on that port, on any IPv4 address."""
    rows = [row.split() for row in table.read_text("ascii").splitlines()[1:]]
    found = (row for row in rows if row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port)
    return frozenset(int(row[7]) for row in found)


def is_trusted_listener(port: int, users: Collection[int] = ()) -> bool:
    """Whether nobody listens there but this user, root and those that are named. On a system without such a table
    everybody is believed."""
    if not TABLE.exists():
        return True
    found = listeners(port)
    return bool(found) and found <= {_ROOT, os.geteuid(), *users}
