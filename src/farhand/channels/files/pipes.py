"""Reads named pipes: each line that somebody writes there is said to a worker, in order, and no faster than a person
could read. What comes faster stays in the pipe, and its writer waits."""

import os
from collections import deque
from pathlib import Path
from typing import Protocol

import anyio
import anyio.abc

from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.words import Word

log = get_logger("pipes")
# A longer line is no message; it is passed over to its end.
LONGEST_LINE = 256 * 1024
CHUNK = 64 * 1024
# So many lines of one pipe are taken in any minute.
MOST_IN_A_MINUTE = 60
MINUTE_SECONDS = 60.0
# After each piece of a line that is passed over: one without an end would keep the node busy with nothing else.
PASSING_OVER_SECONDS = 0.05
TOO_LONG = f"a line of more than {LONGEST_LINE // 1024} kB was passed over"
TOO_FAST = f"more than {MOST_IN_A_MINUTE} messages within a minute; the rest is read as time goes on"


class PipeEnds(Word):
    """Whom a pipe leads to, and whose it is: the worker's whose sandbox alone can write it; empty where any can."""

    worker: str
    writer: str = ""


class TakesLines(Protocol):
    """Brings what is written into a pipe to a worker."""

    async def say_line(self, ends: PipeEnds, line: str) -> None:
        """Returns when the line is written down."""
        ...

    async def held_up(self, ends: PipeEnds, why: str) -> None:
        """More comes through that pipe than is taken."""
        ...


class PipeLines:
    """Cuts what comes out of a pipe into lines, whatever it is."""

    def __init__(self) -> None:
        self._rest = b""
        self.is_passing_over = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that are whole now and say something."""
        *whole, rest = (self._rest + data).split(b"\n")
        lines: list[str] = []
        for line in whole:
            if self.is_passing_over or len(line) > LONGEST_LINE:
                self.dropped += not self.is_passing_over
                self.is_passing_over = False
            elif text := line.decode("utf-8", "replace").replace("\0", "").strip():
                lines.append(text)
        if len(rest) > LONGEST_LINE:
            self.dropped += not self.is_passing_over
            self.is_passing_over, rest = True, b""
        self._rest = b"" if self.is_passing_over else rest
        return lines


class LinePace:
    """The rate limit of a pipe: how long its next line must wait."""

    def __init__(self) -> None:
        self._taken: deque[float] = deque(maxlen=MOST_IN_A_MINUTE)

    def seconds_until_next(self, now: float) -> float:
        """0 when it may be taken now."""
        if len(self._taken) < MOST_IN_A_MINUTE:
            return 0.0
        return min(max(self._taken[0] + MINUTE_SECONDS - now, 0.0), MINUTE_SECONDS)

    def took(self, now: float) -> None:
        """A line was taken."""
        self._taken.append(now)


class Pipes:
    """One reader a pipe; what one of them is sent holds up no other."""

    def __init__(self, team: TakesLines, clock: Clock) -> None:
        self._team = team
        self._clock = clock
        self._readers: dict[Path, anyio.CancelScope] = {}

    def start(self, path: Path, ends: PipeEnds, tasks: anyio.abc.TaskGroup) -> None:
        """Reads that pipe from now on."""
        if path not in self._readers:
            self._readers[path] = scope = anyio.CancelScope()
            tasks.start_soon(self._read, path, ends, scope, name=f"pipe {ends.writer}>{ends.worker}")

    def stop(self, path: Path) -> None:
        """Reads it no more."""
        scope = self._readers.pop(path, None)
        if scope is not None:
            scope.cancel()

    async def _read(self, path: Path, ends: PipeEnds, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                # Opened for writing too, or the end of each writer would be the end of the pipe.
                handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError as error:
                # It costs this pipe alone: the node and its other workers go on.
                self._readers.pop(path, None)
                log.error("pipe not read", worker=ends.worker, writer=ends.writer, why=str(error))
                return
            try:
                await self._read_lines(handle, ends)
            finally:
                os.close(handle)

    async def _read_lines(self, handle: int, ends: PipeEnds) -> None:
        lines, pace = PipeLines(), LinePace()
        while True:
            await anyio.wait_readable(handle)
            try:
                data = os.read(handle, CHUNK)
            except BlockingIOError:
                continue
            dropped = lines.dropped
            for line in lines.feed(data):
                await self._until_next(pace, ends)
                await self._team.say_line(ends, line)
            if lines.dropped > dropped:
                await self._team.held_up(ends, TOO_LONG)
            if lines.is_passing_over:
                await self._clock.sleep(PASSING_OVER_SECONDS)

    async def _until_next(self, pace: LinePace, ends: PipeEnds) -> None:
        while pause := pace.seconds_until_next(self._clock.now()):
            await self._team.held_up(ends, TOO_FAST)
            await self._clock.sleep(pause)
        pace.took(self._clock.now())
