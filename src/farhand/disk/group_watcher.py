"""Ends the process group of a command when the process that runs it is killed: a small shell that waits on a pipe."""

from __future__ import annotations

import contextlib
import os

_SHELL = "/bin/sh"
# A line says that nothing is left to end; the end of the pipe says that whoever held it is gone.
_SCRIPT = 'read -r line || kill "-$1" "-$0"'


class GroupWatcher:
    """Watches over one process group until it is released."""

    def __init__(self, group: int, signal_name: str = "KILL") -> None:
        read, self._write = os.pipe()
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        try:
            # In a group of its own, so that no Ctrl-C ends it before the command.
            self._process = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _SCRIPT, str(group), signal_name],
                {},
                file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), *quiet],
                setpgroup=0,
            )
        except OSError:
            os.close(self._write)
            raise
        finally:
            os.close(read)

    def release(self) -> None:
        """Lets the group be, and ends the watch."""
        descriptor, self._write = self._write, -1
        if descriptor < 0:
            return
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\n")
        os.close(descriptor)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._process, 0)


def watch_group(group: int, signal_name: str = "KILL") -> GroupWatcher | None:
    """A watcher that ends the group by that signal; None where the system has no shell for it."""
    try:
        return GroupWatcher(group, signal_name)
    except OSError:
        return None
