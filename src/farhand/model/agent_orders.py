"""What an agent's own program would take for an order instead of words. Pure."""

from __future__ import annotations

# What begins a CLI's own command, a command of the shell, or a note that it keeps for itself.
ORDERS = ("/", "!", "#")


def begins_as_order(text: str) -> bool:
    """Whether a CLI that is told this may do it instead of reading it."""
    return text.lstrip().startswith(ORDERS)
