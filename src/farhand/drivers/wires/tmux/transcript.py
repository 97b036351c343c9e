"""Reads on in an agent's own file of lines, and translates what was added."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from farhand.disk.tail import read_lines
from farhand.model.ports import Heard

State = TypeVar("State")
# What a line means, which was read at that time, and the state after it.
Translate = Callable[[bytes, State, float], tuple[list[Heard], State]]


def read_on(
    path: str, offset: int, state: State, translate: Translate[State], now: float
) -> tuple[list[Heard], int, State]:
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
