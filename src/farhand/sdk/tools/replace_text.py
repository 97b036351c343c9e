"""Replaces text within a text: exactly, or line by line when only the indentation differs. Pure."""

from __future__ import annotations


class NoMatch(ValueError):
    """The old text is not there, or not as often as it should be."""


def replaced(text: str, old: str, new: str, *, allow_multiple: bool) -> tuple[str, int]:
    """The new text and the number of places that changed. Line ends of the text stay as they are."""
    ending = "\r\n" if "\r\n" in text else "\n"
    text, old, new = (with_line_ends(each, "\n") for each in (text, old, new))
    if not old:
        raise NoMatch("old_string is empty, and the file is there already.")
    if old == new:
        raise NoMatch("old_string and new_string are the same.")
    count = text.count(old)
    if count == 0:
        result, count = _by_lines(text, old, new, allow_multiple=allow_multiple)
    elif count > 1 and not allow_multiple:
        raise NoMatch(f"old_string occurs {count} times. Add lines around it, or set allow_multiple.")
    else:
        result = text.replace(old, new)
    return with_line_ends(result, ending), count


def with_line_ends(text: str, ending: str) -> str:
    """A text whose lines all end the same way."""
    plain = text.replace("\r\n", "\n")
    return plain if ending == "\n" else plain.replace("\n", ending)


def _by_lines(text: str, old: str, new: str, *, allow_multiple: bool) -> tuple[str, int]:
    """Finds the old lines whatever their indentation, and gives the new lines the indentation that is there."""
    lines, wanted = text.split("\n"), [line.strip() for line in old.strip("\n").split("\n")]
    places = _places([line.strip() for line in lines], wanted) if any(wanted) else []
    if not places:
        raise NoMatch("old_string is not in it. Read the file again and copy the text exactly.")
    if len(places) > 1 and not allow_multiple:
        raise NoMatch(f"old_string occurs {len(places)} times. Add lines around it, or set allow_multiple.")
    for start in reversed(places):
        lines[start : start + len(wanted)] = _indented(new.strip("\n"), _indent(lines[start]))
    return "\n".join(lines), len(places)


def _places(lines: list[str], wanted: list[str]) -> list[int]:
    """Where the wanted lines begin; places do not overlap."""
    places: list[int] = []
    for start in range(len(lines) - len(wanted) + 1):
        free = not places or start >= places[-1] + len(wanted)
        if free and lines[start : start + len(wanted)] == wanted:
            places.append(start)
    return places


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(text: str, indent: str) -> list[str]:
    lines = text.split("\n")
    first = _indent(lines[0])
    return [indent + line.removeprefix(first) if line.strip() else line for line in lines]
