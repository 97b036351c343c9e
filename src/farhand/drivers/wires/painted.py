"""What is read off every agent's screen alike: its plain words, and how a message looks in the box. Pure."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
_RULES = frozenset("▄▀─━ ")
_HEAD = 12


def plain(screen: str) -> str:
    """The screen without its colours."""
    return _ESCAPE.sub("", screen)


def begins(box: str, text: str) -> bool:
    """Whether the box begins as this text does."""
    head = next((line.strip() for line in text.splitlines() if line.strip()), "")[:_HEAD]
    return box.startswith(head)


def last_words(screen: str, lines: int = 12) -> str:
    """The end of the screen, for a person who wants to know what happened; what only draws a line is left out."""
    told = [line.rstrip() for line in plain(screen).splitlines() if line.strip()]
    return "\n".join([line for line in told if not set(line) <= _RULES][-lines:])
