"""Tells one process from a later one of the same number, by when it was started; reads what others have running."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The field behind the program's name that tells when the process was started, in ticks since the machine's start.
_STARTED = 19
_PARENT = 1
# Deeper than any agent is below the shell of its terminal.
MOST_PARENTS = 16
PROC = Path("/proc")


class ProcessSeen(NamedTuple):
    """A process of this user: its number, the words it was started with, and its variables, where they can be read."""

    pid: int
    words: tuple[str, ...]
    environ: dict[str, str] | None


def started(pid: int, proc: Path = PROC) -> int | None:
    """When that process was started, in the system's own count; None when it is gone or nobody can tell."""
    try:
        fields = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X") else int(fields[_STARTED])
    except (OSError, ValueError, IndexError):
        return None


def is_below(pid: int, above: int, proc: Path = PROC) -> bool:
    """Whether a process is that one, or was started by it or by one that it has started."""
    for _ in range(MOST_PARENTS):
        if pid == above:
            return True
        try:
            pid = int((proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[_PARENT])
        except (OSError, ValueError, IndexError):
            return False
    return False


def identity(pid: int) -> str:
    """What a pid file holds: the number, and on the next line when the process was started."""
    at = started(pid)
    return f"{pid}\n" if at is None else f"{pid}\n{at}\n"


def read_identity(path: Path) -> int | None:
    """The process of a pid file while it is that very process; None when it is gone or its number is another's."""
    try:
        lines = path.read_text("utf-8").split()
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return None
    if len(lines) > 1 and PROC.joinpath("self").exists():
        return pid if started(pid) == int(lines[1]) else None
    return pid if is_alive(pid) else None


def is_alive(pid: int) -> bool:
    """Whether a process of that number is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def end(path: Path, number: signal.Signals = signal.SIGTERM) -> int | None:
    """Sends the process of that pid file a signal, never a later one of its number; which it was, if it was there."""
    pid = read_identity(path)
    if pid is None or pid == os.getpid():
        return None
    try:
        os.kill(pid, number)
    except OSError:
        return None
    return pid


def read_processes(proc: Path = PROC) -> Iterator[ProcessSeen]:
    """What this user has running; nothing where the system has no /proc."""
    try:
        entries = [entry for entry in os.scandir(proc) if entry.name.isdigit()]
    except OSError:
        return
    for entry in entries:
        try:
            if entry.stat().st_uid != os.getuid():
                continue
            words = (proc / entry.name / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        except OSError:
            continue
        if words != [b""]:
            yield ProcessSeen(int(entry.name), tuple(os.fsdecode(one) for one in words), _environ(proc / entry.name))


def _environ(folder: Path) -> dict[str, str] | None:
    try:
        entries = (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    pairs = (os.fsdecode(one).partition("=") for one in entries if one)
    return {name: value for name, _, value in pairs}
