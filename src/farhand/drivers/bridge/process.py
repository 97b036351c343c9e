"""Which process has read a message, as its hooks told, and whether that very process is gone."""

from __future__ import annotations

import os
from pathlib import Path

from farhand.disk.processes import started


def identify(agent: int, project: Path) -> str:
    """The process with when it was started; empty unless it is one of this user's on this machine, in that project.

    An agent in a container, or on the other side of a network drive, has a number that means another process here."""
    try:
        about = Path(f"/proc/{agent}")
        is_ours = agent > 1 and about.stat().st_uid == os.getuid() and (about / "cwd").readlink() == project
    except OSError:
        return ""
    at = started(agent) if is_ours else None
    return "" if at is None else f"{agent} {at}"


def is_that(reader: str, agent: int) -> bool:
    """Whether this process is the one that has read the message; so it is taken to be where nobody can tell."""
    return not reader or reader.startswith(f"{agent} ")


def is_gone(reader: str) -> bool:
    """Whether that very process has ended; False where nobody can tell."""
    if not reader:
        return False
    pid, _, at = reader.partition(" ")
    return str(started(int(pid))) != at
