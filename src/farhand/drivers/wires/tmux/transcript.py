"""Reads on in an agent's own file of lines, and translates what was added."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from farhand.disk.tail import read_lines
from farhand.model.ports import Heard

LineState = TypeVar("LineState")


def own_file(path: str, folder: Path) -> Path | None:
    """The file that a report names, if it really lies below the folder where the CLI keeps its conversations. Programs
    of the agent can leave reports, too, and what is followed is read, watched and sometimes set aside."""
    try:
        real = Path(path).resolve() if path else None
        return real if real is not None and real.is_relative_to(folder.resolve()) else None
    except (OSError, ValueError, RuntimeError):
        return None


# What a line means, which was read at that time, and the state after it.
Translate = Callable[[bytes, LineState, float], tuple[list[Heard], LineState]]


def read_on(
    path: str, offset: int, state: LineState, translate: Translate[LineState], now: float
) -> tuple[list[Heard], int, LineState]:
    """The facts of all lines after the offset, with offset and state after them; costs what was added."""
    heard: list[Heard] = []
    while path:
        found = read_lines(Path(path), offset)
        for line in found.lines:
            facts, state = translate(line, state, now)
            heard += facts
        offset = found.offset
        if not found.more:
            break
    return heard, offset, state
