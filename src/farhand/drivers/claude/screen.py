"""Reads Claude Code's screen: the input box, its mode, its dialogs. Pure: for liveness and keys, never for content."""

from __future__ import annotations

import re

from farhand.drivers.wires.painted import begins, plain

PROMPTS = ("❯", "!")
_RULE = re.compile(r"^[─━]{10,}")
_ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
# A message that is longer is shown as a token, and arrives whole all the same.
_TOKEN = re.compile(r"^\[Pasted text #\d+")


def read_box(screen: str) -> str | None:
    """What stands in the input box; '' when only a suggestion does, None when there is no box."""
    lines = screen.splitlines()
    bare = [plain(line) for line in lines]
    for number in range(len(lines) - 1, 0, -1):
        if bare[number].startswith(PROMPTS) and _RULE.match(bare[number - 1]):
            end = next((n for n in range(number + 1, len(bare)) if _RULE.match(bare[n])), None)
            if end is None:
                return None
            return _typed(lines[number:end])
    return None


def _typed(lines: list[str]) -> str:
    """The words of the box, unless they are all faint: a faint text is a hint, and nobody typed it."""
    bright, faint, under_cursor = _shades("\n".join(lines))
    text = "".join(bright)
    body = text[1:].replace("\xa0", " ").strip()
    if faint.strip() and (not body or body == under_cursor):
        return ""
    return body


def _shades(text: str) -> tuple[list[str], str, str]:
    bright: list[str] = []
    faint: list[str] = []
    cursor: list[str] = []
    is_faint, is_cursor, position = False, False, 0
    for match in [*_ESCAPE.finditer(text), None]:
        piece = text[position : match.start() if match else len(text)]
        (faint if is_faint else bright).append(piece)
        if is_cursor:
            cursor.append(piece)
        if match is None:
            break
        position = match.end()
        for code in match.group(1).split(";"):
            is_faint = code == "2" or (is_faint and code not in ("", "0", "22"))
            is_cursor = code == "7" or (is_cursor and code not in ("", "0", "27"))
    return bright, "".join(faint), "".join(cursor).strip()


def holds(box: str, text: str) -> bool:
    """Whether the box begins with this text, or with the token of a long one."""
    return begins(box, text) or bool(_TOKEN.match(box))


def footer_says(screen: str, words: str) -> bool:
    """Whether the line under the box says this."""
    return words in "\n".join(plain(screen).strip().splitlines()[-3:])
