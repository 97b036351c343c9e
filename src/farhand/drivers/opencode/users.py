"""Which processes of this machine have OpenCode's database open, where the system tells."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

PROCESSES = Path("/proc")
# The words that each was started with.
Users: TypeAlias = list[list[str]]


def users_of(path: Path) -> Users | None:
    """Every process that has the file open, but this one; None where the system does not tell."""
    if not (PROCESSES / "self" / "fd").is_dir():
        return None
    wanted = str(path.resolve())
    found: Users = []
    for process in PROCESSES.iterdir():
        ours = process.name == str(os.getpid())
        if process.name.isdecimal() and not ours and _has_open(process, wanted):
            with suppress(OSError):
                found.append((process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0"))
    return found


def _has_open(process: Path, wanted: str) -> bool:
    """Processes of other people, and those that end meanwhile, have nothing to do with it."""
    try:
        return any(_target(one) == wanted for one in (process / "fd").iterdir())
    except OSError:
        return False


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""
