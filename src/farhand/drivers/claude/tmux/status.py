"""What reaches a link of Claude Code alone: its own word on how it stands, what it has cost, and what did not come."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.drivers.wires.foreign_json import parse


class ClaudeStatus(msgspec.Struct, frozen=True):
    """What Claude Code says of itself: idle, busy or waiting, and its session."""

    status: str = ""
    session: str = ""


class ClaudeCost(msgspec.Struct, frozen=True):
    """What Claude Code last told its status line, of what its session has cost among other things."""

    payload: bytes = b""


class ClaudeTimeout(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    prompt: str
    payload: bytes = b""
    tries: int = 0


# What reaches a link of Claude Code beside what reaches every one.
Own = ClaudeStatus | ClaudeCost | ClaudeTimeout


def read_standing(file: Path) -> ClaudeStatus:
    """What the CLI's own status file says; empty when it cannot be read."""
    try:
        record = parse(file.read_bytes())
    except OSError:
        record = None
    return ClaudeStatus(record.text("status"), record.text("sessionId")) if record else ClaudeStatus()


def read_cost(file: Path) -> ClaudeCost:
    """What the status line left; empty when there is nothing yet."""
    try:
        return ClaudeCost(file.read_bytes())
    except OSError:
        return ClaudeCost()
