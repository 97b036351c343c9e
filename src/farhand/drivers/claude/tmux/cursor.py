"""Where a link stands: what the journal keeps as its cursor, so that a killed node goes on where it was."""

from __future__ import annotations

from farhand.drivers.claude.tmux.state import ClaudeState
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.model.words import Word


class ClaudeCursor(Word):
    """The transcript that is followed, how far, and what its translation remembers."""

    path: str = ""
    offset: int = 0
    state: ClaudeState = ClaudeState()
    # Answers to the first questions of a questionnaire whose last one is still open.
    picked: dict[str, tuple[PartAnswer, ...]] = {}
