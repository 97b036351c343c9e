"""The rate limit of the log: so many lines a minute of a kind, then how many more there were."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from farhand.model.logger import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, WrappedLogger

MOST_ALIKE = 20
EVERY_SECONDS = 60.0
# More kinds than this in one minute are counted as one.
MOST_KINDS = 200
_LEFT_OUT = "left_out"


class RepeatLimit:
    """Drops warnings and errors of a kind beyond so many a minute; the first of the next minute says how many."""

    def __init__(self, most: int = MOST_ALIKE, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._began = clock()
        self._counts: dict[str, int] = {}
        self._left_out: dict[str, int] = {}

    def __call__(self, _: WrappedLogger, level: str, line: EventDict) -> EventDict:
        """The line, or DropEvent."""
        if level not in ("warning", "error", "exception", "critical"):
            return line
        if self._clock() - self._began >= EVERY_SECONDS:
            self._next_minute()
        kind = str(line.get("library") or line.get("event"))
        if kind not in self._counts and len(self._counts) >= MOST_KINDS:
            kind = ""
        self._counts[kind] = count = self._counts.get(kind, 0) + 1
        if count > self._most:
            raise structlog.DropEvent
        if left_out := self._left_out.pop(kind, 0):
            line[_LEFT_OUT] = left_out
        return line

    def _next_minute(self) -> None:
        self._began = self._clock()
        for kind, count in self._counts.items():
            if count > self._most:
                self._left_out[kind] = self._left_out.get(kind, 0) + count - self._most
        self._left_out = dict(list(self._left_out.items())[-MOST_KINDS:])
        self._counts = {}
