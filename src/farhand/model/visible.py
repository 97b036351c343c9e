"""Which characters an eye cannot see, for every room: shown as their code, or taken out. Pure."""

from __future__ import annotations

import re
import unicodedata

# Format (bidirectional and zero-width among them), control, private, surrogate, unassigned, line and paragraph ends.
_HIDDEN = frozenset({"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"})
# Blank to the eye, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\u034f\u180b\u180c\u180d\u180e\u180f\ufe00\ufe01")
# What is text, though it is a control character: line ends and tabs.
_TEXT = "\n\t "
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TERMINAL_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str, *, spaces: bool = True) -> str:
    """The text as it should be shown to somebody who is about to allow it: hidden characters as `‹U+202E›`.

    Without `spaces`, spaces other than the ordinary one stay: what people write in French is full of them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"‹U+{ord(one):04X}›" if _to_spell_out(one, spaces) else one for one in text)


def is_hidden(character: str) -> bool:
    """Whether nobody can see it, though it may change what they see. Line ends, tabs and spaces are no such thing."""
    if character in _TEXT:
        return False
    return character in _BLANK or unicodedata.category(character) in _HIDDEN


def without_controls(text: str) -> str:
    """The text without ASCII control characters; line ends and tabs stay."""
    return _CONTROLS.sub("", text)


def for_terminal(text: str) -> str:
    """The text without what a terminal would take for an order: an agent's words must not move its cursor."""
    return _TERMINAL_CONTROLS.sub("", text)


def _to_spell_out(character: str, spaces: bool) -> bool:
    if is_hidden(character):
        return True
    return spaces and character != " " and unicodedata.category(character) == "Zs"
