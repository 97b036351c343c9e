"""Wipes secrets out of the environment that the kernel shows of this process, to `ps` and to every program we start."""

import ctypes
from collections.abc import Iterable
from pathlib import Path

# Counted from the field behind the program's name: where the first environment lies in memory.
_ENV_START = 47
_ENV_END = 48


def erase(names: Iterable[str], own: Path = Path("/proc/self")) -> None:
    """Overwrites the values in the block that the process began with; taking a variable away leaves it there."""
    try:
        block = (own / "environ").read_bytes()
        fields = (own / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
    except (OSError, ValueError, IndexError):
        # No such files here: then nobody else can read the block through them either.
        return
    if not start or end - start < len(block):
        return
    wanted = tuple(f"{name}=".encode() for name in names)
    place = 0
    for entry in block.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if entry.startswith(wanted) and value:
            ctypes.memset(start + place + len(name + equals), ord("x"), len(value))
        place += len(entry) + 1
