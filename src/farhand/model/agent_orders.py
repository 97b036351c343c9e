"""What an agent's own program would take for an order instead of words. Pure."""

from __future__ import annotations

from farhand.model.visible import is_hidden

# What begins a CLI's own command, a command of the shell, or a note that it keeps for itself.
ORDERS = ("/", "!", "#")


def begins_as_order(text: str) -> bool:
    """Whether a CLI that is told this may do it instead of reading it: CLIs trim more than Python's blanks."""
    return text.startswith(ORDERS, _first_seen(text))


def without_hidden_beginning(text: str) -> str:
    """The text without what nobody sees before its first word: a CLI that leaves that out reads the same."""
    first = _first_seen(text)
    return "".join(one for one in text[:first] if not is_hidden(one)) + text[first:]


def _first_seen(text: str) -> int:
    return next((place for place, one in enumerate(text) if not (one.isspace() or is_hidden(one))), len(text))
