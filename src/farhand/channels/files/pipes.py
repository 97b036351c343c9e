"""A named pipe for every worker: each line that somebody writes there is said to the worker, in order."""

import os
from pathlib import Path
from typing import Protocol

import anyio
import anyio.abc

from farhand.model.logger import get_logger

log = get_logger("pipes")
# A longer line is no message; it is passed over to its end.
LONGEST_LINE = 256 * 1024
CHUNK = 64 * 1024


class SaysLines(Protocol):
    """Brings what is written into a pipe to a worker."""

    async def say_line(self, worker: str, line: str) -> None:
        """Returns when the line is written down."""
        ...


class PipeLines:
    """Cuts what comes out of a pipe into lines, whatever it is."""

    def __init__(self) -> None:
        self._rest = b""
        self._passing_over = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that are whole now and say something."""
        *whole, rest = (self._rest + data).split(b"\n")
        lines: list[str] = []
        for line in whole:
            if self._passing_over or len(line) > LONGEST_LINE:
                self.dropped += not self._passing_over
                self._passing_over = False
            elif text := line.decode("utf-8", "replace").replace("\0", "").strip():
                lines.append(text)
        if len(rest) > LONGEST_LINE:
            self.dropped += not self._passing_over
            self._passing_over, rest = True, b""
        self._rest = b"" if self._passing_over else rest
        return lines


class Pipes:
    """One reader a worker; what one of them is sent holds up no other."""

    def __init__(self, team: SaysLines) -> None:
        self._team = team
        self._readers: dict[str, anyio.CancelScope] = {}

    def start(self, worker: str, path: Path, tasks: anyio.abc.TaskGroup) -> None:
        """Reads that pipe from now on."""
        if worker not in self._readers:
            self._readers[worker] = scope = anyio.CancelScope()
            tasks.start_soon(self._read, worker, path, scope, name=f"pipe {worker}")

    def stop(self, worker: str) -> None:
        """Reads it no more."""
        scope = self._readers.pop(worker, None)
        if scope is not None:
            scope.cancel()

    async def _read(self, worker: str, path: Path, scope: anyio.CancelScope) -> None:
        # Opened for writing too, or the end of each writer would be the end of the pipe.
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        lines = PipeLines()
        try:
            with scope:
                while True:
                    await anyio.wait_readable(handle)
                    try:
                        data = os.read(handle, CHUNK)
                    except BlockingIOError:
                        continue
                    dropped = lines.dropped
                    for line in lines.feed(data):
                        await self._team.say_line(worker, line)
                    if lines.dropped > dropped:
                        log.warning("line too long", worker=worker, limit=LONGEST_LINE)
        finally:
            os.close(handle)
