"""Titles of tool calls for a person, filled from the templates of a manifest. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from farhand.drivers.wires.foreign_json import Fields
from farhand.model.lazy_pattern import lazy_pattern

LONGEST_TITLE = 120
_FIELD = lazy_pattern(r"\{([\w|]+)\}")


def tool_title(tool: str, arguments: Fields, titles: Mapping[str, str]) -> str:
    """What a call does, in one line: the words of its tool, each `{field}` in them filled with what the call says.

    Of `{one|other}` it is the first that says something.
    """

    def said(found: re.Match[str]) -> str:
        return next((text for name in found[1].split("|") if (text := arguments.text(name))), "")

    if tool not in titles:
        return one_line(tool or "Use a tool")
    # Only of a command there may be no word at all.
    return one_line(_FIELD.sub(said, titles[tool])) or "Run a command"


def one_line(text: str, most: int = LONGEST_TITLE) -> str:
    """A title: on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def pretty_json(value: object) -> str:
    """All of it, as JSON that can be read."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
