"""Words for a person about what an agent does: in one line, and in full. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

LONGEST_TITLE = 120


def one_line(text: str, most: int = LONGEST_TITLE) -> str:
    """A title: on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def in_full(value: Any) -> str:
    """All of it, as JSON that can be read."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
