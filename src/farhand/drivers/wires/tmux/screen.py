"""What is read off every agent's screen alike: its plain words, and how a message looks in the box. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from farhand.drivers.wires.tmux.protocol import pictured
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.visible import is_hidden

_ESCAPE = lazy_pattern(r"\x1b\[[0-9;:]*[A-Za-z]")
_COLOUR = lazy_pattern(r"\x1b\[([0-9;]*)m")
_RULE = lazy_pattern("[▔▄▀─━]{4,}")
_HEAD = 12


def plain(screen: str) -> str:
    """The screen without its colours."""
    return _ESCAPE.sub("", screen)


def pieces(screen: str) -> Iterator[tuple[str, bool, bool]]:
    """The words between two changes of colour, whether they are faint, and whether the cursor is on them."""
    faint, cursor, position = False, False, 0
    for change in _COLOUR.finditer(screen):
        yield screen[position : change.start()], faint, cursor
        position = change.end()
        for code in change[1].split(";"):
            faint = code == "2" or (faint and code not in ("", "0", "22"))
            cursor = code == "7" or (cursor and code not in ("", "0", "27"))
    yield screen[position:], faint, cursor


def bright(screen: str) -> str:
    """What is not faint: a faint text is a hint, and nobody typed it."""
    return "".join(words for words, faint, _ in pieces(screen) if not faint)


def as_shown(text: str) -> str:
    """The text as a terminal shows it when it is pasted: characters that nobody sees are not on a screen."""
    typed = pictured(text)
    return typed if typed.isascii() else "".join(one for one in typed if not is_hidden(one))


def begins(box: str, text: str) -> bool:
    """Whether the box begins as this text does."""
    head = next((line.strip() for line in as_shown(text).splitlines() if line.strip()), "")[:_HEAD]
    return as_shown(box).startswith(head)


def last_words(screen: str, lines: int = 12) -> str:
    """The end of the screen, for a person who wants to know what happened; what only draws a line is left out."""
    shown = [_RULE.sub("", line).rstrip() for line in plain(screen).splitlines()]
    return "\n".join([line for line in shown if line.strip()][-lines:])


def newest_block(lines: Iterable[str], mark: str) -> str:
    """The text of the last block that begins with the mark and is indented below it; '' when something came after."""
    block: list[str] | None = None
    for line in lines:
        if line.startswith(mark):
            block = [line.removeprefix(mark).rstrip()]
        elif line.strip() and not line.startswith("  "):
            block = None
        elif block is not None:
            block.append(line[2:].rstrip())
    return "\n".join(block or []).strip()
