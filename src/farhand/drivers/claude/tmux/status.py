"""What Claude Code reports of itself in files: its status, and what its session has cost.

No prices are kept here: they change, and a table of them would soon be wrong."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from farhand.disk.plain_files import read_plain
from farhand.drivers.wires.foreign_json import parse

LARGEST_BYTES = 4 * 1024 * 1024


class ClaudeStatus(msgspec.Struct, frozen=True):
    """Idle, busy or waiting, and its session."""

    status: str = ""
    session: str = ""


class ClaudeCost(msgspec.Struct, frozen=True):
    """What its status line was last given: what its session has cost, among other things."""

    payload: bytes = b""


def read_status(file: Path) -> ClaudeStatus:
    """What the CLI's own status file says; empty when it cannot be read."""
    try:
        record = parse(read_plain(file, LARGEST_BYTES))
    except OSError:
        record = None
    return ClaudeStatus(record.text("status"), record.text("sessionId")) if record else ClaudeStatus()


def read_cost(file: Path) -> ClaudeCost:
    """What the status line left; empty when there is nothing yet."""
    try:
        return ClaudeCost(read_plain(file, LARGEST_BYTES))
    except OSError:
        return ClaudeCost()


def status_line(file: Path) -> dict[str, str]:
    """A status line that shows nothing, and leaves what it is given in a file, whole or not at all."""
    place = shlex.quote(str(file))
    return {"type": "command", "command": f"umask 077; cat > {place}.$$ && mv {place}.$$ {place}"}
