"""What reaches a link of Claude Code alone: its own word on how it stands, what it has cost, and what did not come."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.drivers.wires.foreign_json import parse


class Standing(msgspec.Struct, frozen=True):
    """What Claude Code says of itself: idle, busy or waiting, and its session."""

    status: str = ""
    session: str = ""


class Priced(msgspec.Struct, frozen=True):
    """What Claude Code last told its status line, of what its session has cost among other things."""

    payload: bytes = b""


class Later(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    prompt: str
    payload: bytes = b""
    tries: int = 0


# What reaches a link of Claude Code beside what reaches every one.
Own = Standing | Priced | Later


def read_standing(file: Path) -> Standing:
    """What the CLI's own status file says; empty when it cannot be read."""
    try:
        record = parse(file.read_bytes())
    except OSError:
        record = None
    return Standing(record.text("status"), record.text("sessionId")) if record else Standing()


def read_cost(file: Path) -> Priced:
    """What the status line left; empty when there is nothing yet."""
    try:
        return Priced(file.read_bytes())
    except OSError:
        return Priced()
