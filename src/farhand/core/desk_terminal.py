"""A line on the terminal of a process at the desk, as write(1) shows one: what a person there must know."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")


def show(processes: Iterable[int], text: str) -> int:
    """Shows the line on each terminal of these processes, once; on how many. Where there is no /proc, on none."""
    terminals = {path for one in processes for path in [terminal_of(one)] if path}
    return sum(_write(path, f"\r\n\a{text}\r\n".encode()) for path in sorted(terminals))


def terminal_of(process: int) -> str:
    """The terminal that the process writes to; empty when it has none, or is another user's."""
    for descriptor in ("1", "2", "0"):
        with suppress(OSError):
            path = str((PROCESSES / str(process) / "fd" / descriptor).readlink())
            if path.startswith("/dev/") and stat.S_ISCHR(Path(path).stat().st_mode):
                return path
    return ""


def _write(path: str, data: bytes) -> bool:
    """False for what is no terminal, or takes nothing now: a person may have stopped its output."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(descriptor) and os.write(descriptor, data) == len(data)
    except OSError:
        return False
    finally:
        os.close(descriptor)
