"""JSON with comments, as some CLIs' settings are: read, and hooks spliced in and out with every other byte left alone.

A text is blanked first: comments and trailing commas become blanks of the same length, so that every place in what
is left is a place in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from farhand.model.lazy_pattern import lazy_pattern

_TOKEN = lazy_pattern(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = lazy_pattern(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
_SPACE = lazy_pattern(r"\s*")
_VALUE = json.JSONDecoder()


class JsonPart(NamedTuple):
    """A member of an object or an item of a list: its name, where it begins, and where its value begins and ends."""

    name: str
    start: int
    value: int
    end: int


def blanked(text: str) -> str:
    """The text as plain JSON, every place where it was."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _uncommented(text))


def _uncommented(text: str) -> str:
    return _TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)


def has_comments(text: str) -> bool:
    """Whether it is more than plain JSON."""
    return blanked(text) != text


def parts(blank: str, start: int) -> Iterator[JsonPart]:
    """The members of the object, or the items of the list, that begins there."""
    named = blank[start] == "{"
    place = _after_space(blank, start + 1)
    while blank[place] not in "}]":
        name, value = "", place
        if named:
            name, value = _VALUE.raw_decode(blank, place)
            value = _after_space(blank, _after_space(blank, value) + 1)
        _, end = _VALUE.raw_decode(blank, value)
        yield JsonPart(name, place, value, end)
        place = _after_space(blank, end)
        if blank[place] == ",":
            place = _after_space(blank, place + 1)


def _after_space(blank: str, place: int) -> int:
    found = _SPACE.match(blank, place)
    return found.end() if found else place


def member(blank: str, start: int, name: str) -> JsonPart | None:
    """The member of that name; the last one counts, as for every reader of JSON."""
    return next((one for one in reversed(list(parts(blank, start))) if one.name == name), None)


# --- hooks


def with_groups(text: str, groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The settings with these groups of hooks behind those that are there."""
    for event, ours in groups.items():
        for group in ours:
            text = _with_group(text, event, json.dumps(group, ensure_ascii=False))
    return text


def _with_group(text: str, event: str, group: str) -> str:
    blank = blanked(text)
    root = blank.index("{")
    hooks = member(blank, root, "hooks")
    if hooks is None:
        return _first_in(text, root, f'"hooks": {{"{event}": [{group}]}}')
    found = member(blank, hooks.value, event)
    if found is None:
        return _first_in(text, hooks.value, f'"{event}": [{group}]')
    items = list(parts(blank, found.value))
    if not items:
        return _first_in(text, found.value, group)
    return f"{text[: items[-1].end]}, {group}{text[items[-1].end :]}"


def _first_in(text: str, start: int, added: str) -> str:
    """Put at the beginning of an object or a list, on a line of its own where the next part has one."""
    blank = blanked(text)
    first = next(parts(blank, start), None)
    if first is None:
        return f"{text[: start + 1]}{added}{text[start + 1 :]}"
    gap = _SPACE.match(text, start + 1)
    space = gap[0] if gap else ""
    return f"{text[: start + 1]}{space}{added},{text[start + 1 :]}"


def without_groups(text: str, is_ours: Callable[[Any], bool]) -> str:
    """The settings without those groups of hooks; what only they had filled goes too."""
    blank = blanked(text)
    hooks = member(blank, blank.index("{"), "hooks")
    for event in reversed(list(parts(blank, hooks.value))) if hooks else ():
        items = list(parts(blank, event.value))
        ours = [one for one in items if is_ours(json.loads(blank[one.value : one.end]))]
        if items and len(ours) == len(items):
            text = _cut(text, event)
            continue
        for one in reversed(ours):
            text = _cut(text, one)
    return text if hooks is None or _is_empty(blank, hooks) else _without_empty_hooks(text)


def _is_empty(blank: str, part: JsonPart) -> bool:
    return next(parts(blank, part.value), None) is None


def _without_empty_hooks(text: str) -> str:
    blank = blanked(text)
    hooks = member(blank, blank.index("{"), "hooks")
    return _cut(text, hooks) if hooks and _is_empty(blank, hooks) else text


def _cut(text: str, part: JsonPart) -> str:
    """Without that part, and without the comma that was between it and its neighbour."""
    blank = _uncommented(text)
    behind = _after_space(blank, part.end)
    if blank[behind] == ",":
        following = _SPACE.match(text, behind + 1)
        return text[: part.start] + text[following.end() if following else behind + 1 :]
    before = blank[: part.start].rstrip()
    if before.endswith(","):
        return text[: len(before) - 1] + text[len(before) : part.start].rstrip() + text[part.end :]
    return text[: part.start].rstrip(" \t") + text[part.end :]
