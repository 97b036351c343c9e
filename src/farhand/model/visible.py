"""Makes what an eye cannot see visible: invisible, bidirectional and control characters become their code. Pure."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"}
# Blank to the eye, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\u034f\u180b\u180c\u180d\u180e\u180f\ufe00\ufe01")
_SPACES = {"Zs"}


def visible(text: str) -> str:
    """The text as it should be shown to somebody who is about to allow it."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character in "\n\t ":
        return character
    category = unicodedata.category(character)
    if category in _HIDDEN or category in _SPACES or character in _BLANK:
        return f"⟨U+{ord(character):04X}⟩"
    return character
