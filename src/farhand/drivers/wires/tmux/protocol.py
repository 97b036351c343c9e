"""Reads and writes tmux's control mode. Pure: lines in, replies and notices out; words in, one command line out."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from farhand.model.visible import TERMINAL_CONTROLS


class TmuxReply(msgspec.Struct, frozen=True):
    """What a command printed, and whether tmux accepted it."""

    ok: bool
    lines: tuple[str, ...]
    ours: bool


class TmuxNotice(msgspec.Struct, frozen=True):
    """Something that happened in the server: `%sessions-changed`, `%exit`, `%session-renamed $1 name`."""

    name: str
    arguments: tuple[str, ...]


TmuxOutput: TypeAlias = TmuxReply | TmuxNotice


class TmuxReader:
    """Puts the lines between `%begin` and its own `%end` together; every other line is a notice."""

    def __init__(self) -> None:
        self._guard: str | None = None
        self._lines: list[str] = []

    def feed(self, line: str) -> TmuxOutput | None:
        """The reply or notice that this line completes, if it completes one."""
        if self._guard is None:
            return self._outside(line)
        for word in ("%end ", "%error "):
            # A screen may show a line that begins with %end: only the one with our own numbers ends the reply.
            if line == word + self._guard:
                return self._close(ok=word == "%end ")
        self._lines.append(line)
        return None

    def _outside(self, line: str) -> TmuxOutput | None:
        if line.startswith("%begin "):
            self._guard = line.removeprefix("%begin ")
            self._lines = []
            return None
        if not line.startswith("%"):
            return None
        name, *arguments = line[1:].split(" ")
        return TmuxNotice(name, tuple(arguments))

    def _close(self, *, ok: bool) -> TmuxReply:
        guard, self._guard = self._guard or "", None
        return TmuxReply(ok, tuple(self._lines), ours=guard.endswith(" 1"))


def quote(word: str) -> str:
    """One word as tmux's command parser reads it, whatever is in it."""
    return '"' + "".join(map(_escape, word)) + '"'


def _escape(character: str) -> str:
    if character in '\\"$~':
        return "\\" + character
    if character < " " or character == "\x7f":
        return f"\\{ord(character):03o}"
    return character


def command_line(*commands: tuple[str, ...]) -> bytes:
    """Commands as one line for the control client; a `;` inside a word is no separator."""
    return (" ; ".join(" ".join(map(quote, words)) for words in commands) + "\n").encode()


def pictured(text: str) -> str:
    """The text with its line ends as newlines and other control characters as pictures.

    A message could otherwise close the bracketed paste and go on as keys.
    """
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    return TERMINAL_CONTROLS.sub(_picture, whole)


def _picture(control: re.Match[str]) -> str:
    code = ord(control[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
