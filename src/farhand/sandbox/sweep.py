"""Finds and ends what a child left running when its holder was killed: the processes of the child's session."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from farhand.sandbox.folder import Life


class Process(NamedTuple):
    """One line of the system's table of processes."""

    pid: int
    session: int
    ticks: int


def leftovers(life: Life, boot: str, processes: Iterable[Process]) -> list[Process]:
    """Those that are certainly of that life. A session's number is not given away while anyone is in it."""
    if life.boot != boot:
        return []
    found = [process for process in processes if process.session == life.child]
    reused = any(process.pid == life.child and process.ticks != life.ticks for process in found)
    return [] if reused else found


def sweep(life: Life) -> int:
    """Kills the leftovers; returns how many there were. Where the system has no /proc, nothing is found."""
    found = leftovers(life, boot_id(), read_processes())
    return sum(kill(process) for process in found)


def kill(process: Process) -> bool:
    """Kills that very process, never a later one that was given its number."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if read_process(process.pid) != process:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def boot_id() -> str:
    """What tells one start of the machine from another."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def read_processes() -> list[Process]:
    """Everything that runs, zombies left out."""
    try:
        numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    except OSError:
        return []
    return [process for number in numbers if (process := read_process(number)) is not None]


def read_process(pid: int) -> Process | None:
    """One process as the system describes it; None when it is gone or only its exit code is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None
        return Process(pid=pid, session=int(fields[3]), ticks=int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None
