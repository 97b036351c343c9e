"""Where a conversation is shown and typed: a real terminal, whose typed line stays apart, or plain pipes."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TextIO

import anyio

from farhand.cli.live_terminal import LiveTerminal, no_candidates
from farhand.cli.typed_lines import KeepsLines
from farhand.model.visible import for_terminal

# Terminals that cannot move their cursor.
DUMB = frozenset({"dumb", "unknown"})


class ConversationTerminal(Protocol):
    """What a conversation needs of the place where it is held."""

    prompt: str
    candidates: Callable[[str], Sequence[str]]

    async def line(self) -> str | None:
        """The next line that is typed; None when the person leaves."""
        ...

    def tell(self, text: str, style: str = "") -> None:
        """Shows whole lines."""
        ...

    def stream(self, who: str, text: str, style: str = "") -> None:
        """Shows a piece of what somebody is saying."""
        ...

    def finish(self, who: str) -> None:
        """Ends the line that somebody has begun."""
        ...


class PlainTerminal:
    """Lines in, lines out: for pipes, and for tests."""

    prompt = ""

    def __init__(self, reading: TextIO, writing: TextIO) -> None:
        self.candidates: Callable[[str], Sequence[str]] = no_candidates
        self._reading = reading.fileno()
        self._writing = writing
        self._buffer = b""
        self._speaker = ""

    async def line(self) -> str | None:
        """The next line of the input; a last one needs no newline."""
        while b"\n" not in self._buffer:
            # A regular file is always ready, and cannot be waited for.
            with suppress(PermissionError):
                await anyio.wait_readable(self._reading)
            data = os.read(self._reading, 65536)
            if not data:
                last, self._buffer = self._buffer, b""
                return last.decode(errors="replace") if last else None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def tell(self, text: str, style: str = "") -> None:  # noqa: ARG002
        """Prints whole lines."""
        self.finish(self._speaker)
        self._write(text + "\n")

    def stream(self, who: str, text: str, style: str = "") -> None:  # noqa: ARG002
        """Prints a piece; another speaker begins a new line."""
        if who != self._speaker:
            text = text.lstrip("\n")
            if not text:
                return
            self.finish(self._speaker)
            self._write(f"{who}: ")
            self._speaker = who
        self._write(text)

    def finish(self, who: str) -> None:
        """Ends the running line, if it is of that speaker."""
        if who and who == self._speaker:
            self._write("\n")
            self._speaker = ""

    def _write(self, text: str) -> None:
        # A terminal that moves no cursor obeys other orders all the same.
        self._writing.write(for_terminal(text))
        self._writing.flush()


@contextmanager
def open_terminal(environment: Mapping[str, str], lines: KeepsLines | None = None) -> Iterator[ConversationTerminal]:
    """The terminal of this process: live where it is one that can move its cursor, plain lines otherwise."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or environment.get("TERM") in DUMB:
        yield PlainTerminal(sys.stdin, sys.stdout)
        return
    colours = not environment.get("NO_COLOR")
    with LiveTerminal(sys.stdin, sys.stdout, colours=colours, lines=lines).open() as terminal:
        yield terminal
