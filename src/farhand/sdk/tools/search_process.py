"""Searches files for a pattern in a process of its own, because a pattern can take for ever and hold everything up.

Standard library only: it is run as a script, with the request as JSON on its input and a JSON line for each file.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

LARGEST_BYTES = 20 * 1024 * 1024
LONGEST_LINE = 1000


def search(request: dict[str, Any]) -> None:
    """Writes `{"file", "lines": [[number, text, matched]…]}` for every file with a match, until there are enough."""
    pattern = re.compile(request["pattern"], 0 if request["case_sensitive"] else re.IGNORECASE)
    # One look at the whole text spares most files the look at every line; only \A and \Z mean another thing there.
    glance = None if re.search(r"\\[AZ]", request["pattern"]) else re.compile(request["pattern"], pattern.flags | re.M)
    excluded = re.compile(request["exclude"], pattern.flags) if request["exclude"] else None
    left = request["total"]
    for name in request["files"]:
        if left <= 0:
            sys.stdout.write(json.dumps({"more": True}) + "\n")
            return
        text = text_of(name)
        if text is None or (glance is not None and not glance.search(text)):
            continue
        lines = text.split("\n")
        numbers = matching(pattern, excluded, lines, min(left, request["per_file"] or left))
        if not numbers:
            continue
        left -= len(numbers)
        found = [] if request["names_only"] else around(lines, numbers, request["before"], request["after"])
        sys.stdout.write(json.dumps({"file": name, "count": len(numbers), "lines": found}) + "\n")
        sys.stdout.flush()


def text_of(name: str) -> str | None:
    """A text file, its lines ended by newlines alone; None for what cannot be read, is binary or is huge."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123
            content = file.read(LARGEST_BYTES + 1)
    except OSError:
        return None
    if len(content) > LARGEST_BYTES or b"\0" in content[:8192]:
        return None
    return content.decode("utf-8", errors="replace").replace("\r\n", "\n")


def matching(pattern: re.Pattern[str], excluded: re.Pattern[str] | None, lines: list[str], most: int) -> list[int]:
    """The indexes of the first lines that match and are not excluded."""
    found: list[int] = []
    for index, line in enumerate(lines):
        if pattern.search(line) and not (excluded and excluded.search(line)):
            found.append(index)
            if len(found) >= most:
                break
    return found


def around(lines: list[str], numbers: list[int], before: int, after: int) -> list[tuple[int, str, bool]]:
    """The matching lines with those around them, each once, numbered from 1."""
    wanted: dict[int, bool] = {}
    for number in numbers:
        for index in range(max(0, number - before), min(len(lines), number + after + 1)):
            wanted.setdefault(index, False)
        wanted[number] = True
    return [(index + 1, lines[index][:LONGEST_LINE], hit) for index, hit in sorted(wanted.items())]


if __name__ == "__main__":
    search(json.load(sys.stdin))
