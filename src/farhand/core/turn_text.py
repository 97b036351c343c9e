"""Bounds how many characters of one turn are kept: an agent that writes without end costs nobody else their node."""

from collections.abc import Iterable, Iterator

from farhand.model import facts
from farhand.model.ports import Heard
from farhand.model.words import TurnId, replace

# More than anybody reads, and more than any answer of an agent that works.
LONGEST_TURN = 10_000_000
CUT = f"It has written more than {LONGEST_TURN:,} characters in this turn: the rest of its words is not kept."


class TurnText:
    """Counts the characters of the running turn."""

    def __init__(self, most: int = LONGEST_TURN) -> None:
        self._most = most
        self._turn: TurnId | None = None
        self._left = most

    def bounded(self, running: TurnId | None, heard: Iterable[Heard]) -> tuple[Heard, ...]:
        """What was heard, without the words that are too many; the first that are cut are told of."""
        return tuple(kept for one in heard for kept in self._kept(running, one))

    def _kept(self, running: TurnId | None, heard: Heard) -> Iterator[Heard]:
        if (turn := heard.turn or running) != self._turn:
            self._turn, self._left = turn, self._most
        fact = heard.fact
        match fact:
            case facts.Said(text=text) | facts.Thought(text=text) | facts.ToolEnded(output=text) if (
                len(text) <= self._left
            ):
                yield heard
            case facts.Said(text=text) | facts.Thought(text=text):
                if self._left > 0:
                    yield replace(heard, fact=replace(fact, text=text[: self._left]))
            case facts.ToolEnded(output=text):
                yield replace(heard, fact=replace(fact, output=text[: max(0, self._left)]))
            case _:
                yield heard
                return
        if self._left >= 0 and len(text) > self._left:
            yield replace(heard, fact=facts.Noted(text=CUT))
            self._left = -1
        self._left -= len(text)
