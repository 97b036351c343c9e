"""Turns glob patterns into regular expressions: `**`, `*`, `?`, `[a-z]` and `{a,b}`, over paths with slashes. Pure."""

from __future__ import annotations

import re

MOST_ALTERNATIVES = 200


def glob_matcher(pattern: str, *, case_sensitive: bool = False) -> re.Pattern[str]:
    """A pattern for whole paths. A pattern without a slash means that name anywhere only when it starts with `**/`."""
    alternatives = "|".join(_translate(each) for each in expand_braces(pattern.removeprefix("./")))
    return re.compile(rf"(?:{alternatives})\Z", 0 if case_sensitive else re.IGNORECASE)


def expand_braces(pattern: str) -> list[str]:
    """`a{b,c}` becomes `ab` and `ac`; braces without a comma stay as they are."""
    found, done = [pattern], list[str]()
    while found and len(found) + len(done) <= MOST_ALTERNATIVES:
        each = found.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", each)
        if match is None:
            done.append(each)
        else:
            found += [each[: match.start()] + choice + each[match.end() :] for choice in match[1].split(",")]
    return [*done, *found]


def _translate(pattern: str) -> str:
    result: list[str] = []
    index = 0
    while index < len(pattern):
        rest = pattern[index:]
        if rest.startswith("**/"):
            result.append(r"(?:[^/]+/)*")
            index += 3
        elif rest.startswith("**"):
            result.append(r".*")
            index += 2
        elif rest[0] == "*":
            result.append(r"[^/]*")
            index += 1
        elif rest[0] == "?":
            result.append(r"[^/]")
            index += 1
        elif (group := re.match(r"\[(!|\^)?(\]?[^\]/]*)\]", rest)) is not None and group[2]:
            result.append(f"[{'^' if group[1] else ''}{_escaped(group[2])}]")
            index += group.end()
        else:
            result.append(re.escape(rest[0]))
            index += 1
    return "".join(result)


def _escaped(characters: str) -> str:
    return re.sub(r"([\\\[\]^&~|])", r"\\\1", characters)
