"""A worker's terminal, live: bytes for whoever watches, keys and pastes from whoever may type. Pure."""

import base64
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from farhand.model.errors import BadInput
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.live_session import SessionTerminal
from farhand.model.present import Worker
from farhand.model.words import Word

LONGEST_TEXT = 10_000
MOST_KEYS = 50
_KEY = lazy_pattern(
    r"(?:C|M)-[a-z]|F(?:[1-9]|1[0-2])|Enter|Escape|Tab|BTab|Up|Down|Left|Right|Home|End|PageUp|PageDown|BSpace|Delete"
    r"|Space"
)


class PanePiece(Word):
    """What a terminal wrote, in base64. After a `reset` it is the whole screen, and what was shown before is void."""

    data: str
    columns: int = 0
    rows: int = 0
    reset: bool = False


class PaneInput(Word):
    """What is typed: a text, then keys by their names (Enter, Escape, C-c). A paste is one, whatever is in it."""

    text: str = ""
    keys: tuple[str, ...] = ()
    paste: bool = False


def checked_input(given: PaneInput) -> PaneInput:
    """The input, if it can be typed; BadInput says what cannot."""
    if len(given.text) > LONGEST_TEXT or len(given.keys) > MOST_KEYS:
        raise BadInput(f"{LONGEST_TEXT:,} characters and {MOST_KEYS} keys can be typed at once.")
    if wrong := next((key for key in given.keys if not _KEY.fullmatch(key)), None):
        raise BadInput(f"There is no key '{wrong[:20]}'.")
    if not given.text and not given.keys:
        raise BadInput("There is nothing to type.")
    return given


def as_piece(data: bytes, columns: int = 0, rows: int = 0, *, reset: bool = False) -> PanePiece:
    """Bytes of a terminal as they travel."""
    return PanePiece(data=base64.b64encode(data).decode(), columns=columns, rows=rows, reset=reset)


class Panes(Protocol):
    """The terminals of workers."""

    def watched(self, worker: Worker) -> AbstractAsyncContextManager[AsyncIterator[PanePiece]]:
        """What the worker's terminal shows, then what it writes, for as long as somebody watches; raises CannotDo."""
        ...

    async def type(self, worker: Worker, given: PaneInput) -> None:
        """Types it, and nothing else at the same time; raises CannotDo."""
        ...


@runtime_checkable
class DrivesTerminals(Panes, Protocol):
    """Terminals can be driven by programs: what the panes of a tmux host offer."""

    def terminal(self, worker: Worker) -> SessionTerminal:
        """The worker's own."""
        ...
