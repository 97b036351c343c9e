"""The demo worker's terminal: a screen of its own that shows what is typed, without a program behind it."""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from farhand.model.panes import PaneInput, PanePiece, as_piece
from farhand.model.present import Worker
from farhand.model.visible import for_terminal

COLUMNS, ROWS = 60, 22
MOST_LINES = 12
_HAND = ("    ▄ ▄ ▄", "  ▄ █ █ █", "  █▄████▀", "   ▀███▀")
_AMBER, _DIM, _PLAIN = "\x1b[38;5;215m", "\x1b[2m", "\x1b[0m"


@dataclass
class DemoScreen:
    """What was typed into one worker's terminal so far."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    typed: str = ""
    changed: anyio.Event = field(default_factory=anyio.Event)

    def take(self, given: PaneInput) -> None:
        """Text and keys, in this order; Enter hands the line in, Escape and C-c empty it."""
        self.typed += given.text
        for key in given.keys:
            self._press(key)
        self.changed.set()
        self.changed = anyio.Event()

    def _press(self, key: str) -> None:
        match key:
            case "Enter":
                self.lines.extend(_exchange(self.typed))
                self.typed = ""
            case "Escape" | "C-c":
                self.typed = ""
            case "BSpace":
                self.typed = self.typed[:-1]
            case "Space":
                self.typed += " "
            case _:
                self.lines.append(f"{_DIM}({key}){_PLAIN}")

    def drawn(self) -> bytes:
        """The whole screen, for an empty terminal."""
        top = [f"{_AMBER}{row}{_PLAIN}" for row in _HAND]
        hint = f"{_DIM}What you type is shown here, and runs nothing.{_PLAIN}"
        screen = [*top, "", "The demo worker's own terminal", hint, "", *self.lines, _line(self.typed)]
        return b"\x1b[0m\x1b[H\x1b[2J" + "\r\n".join(screen).encode(errors="replace")


def _exchange(typed: str) -> list[str]:
    return [_line(typed), f"You typed {len(typed)} characters." if typed.strip() else "Enter, and nothing else."]


def _line(typed: str) -> str:
    plain = for_terminal(" ".join(typed.split()))
    return f"{_AMBER}demo>{_PLAIN} {plain[: COLUMNS - 8]}"


class DemoPanes:
    """The terminals of demo workers; a node that starts anew begins them anew."""

    def __init__(self) -> None:
        self._screens: dict[str, DemoScreen] = {}

    def _screen(self, worker: Worker) -> DemoScreen:
        return self._screens.setdefault(worker.hiring_id, DemoScreen())

    @asynccontextmanager
    async def watched(self, worker: Worker) -> AsyncIterator[AsyncIterator[PanePiece]]:
        """The screen as it is, and again whenever something was typed."""
        yield _pieces(self._screen(worker))

    async def type(self, worker: Worker, given: PaneInput) -> None:
        """Shows it."""
        self._screen(worker).take(given)


async def _pieces(screen: DemoScreen) -> AsyncIterator[PanePiece]:
    while True:
        changed = screen.changed
        yield as_piece(screen.drawn(), COLUMNS, ROWS, reset=True)
        await changed.wait()
