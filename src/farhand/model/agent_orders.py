"""What an agent's own program would take for an order instead of words. Pure."""

from __future__ import annotations

# What begins a CLI's own command, a command of the shell, or a note that it keeps for itself.
ORDERS = ("/", "!", "#")
# Before what no person has written: so it stays words, on every wire.
BY_A_PROGRAM = "A program on this machine writes:"


def begins_as_order(text: str) -> bool:
    """Whether a CLI that is told this may do it instead of reading it."""
    return text.lstrip().startswith(ORDERS)


def as_words(text: str) -> str:
    """The text for an agent, in which nothing is an order."""
    return f"{BY_A_PROGRAM} {text}" if begins_as_order(text) else text
