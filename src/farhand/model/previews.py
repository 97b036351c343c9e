"""What an agent is saying right now, read off its screen, for agents that write down only what is whole. Pure.

A preview has no number and is kept nowhere; the words themselves replace it as soon as the agent has written them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from farhand.model.words import TurnId, Word, WorkerName


class TextPreview(Word):
    """The newest words of a running turn as its screen shows them; empty once the journal has them."""

    worker: WorkerName
    turn: TurnId
    text: str = ""


class Previews(Protocol):
    """The previews of all workers."""

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` whenever one has changed. It must not wait."""
        ...

    def since(self, version: int) -> tuple[list[TextPreview], int]:
        """Those that changed after that version, 0 for all, and the version now."""
        ...


def news(preview: str, said: str) -> str:
    """The preview, or nothing when those words were said already, in whatever lines. Pure."""
    shown = "".join(preview.split())
    return "" if not shown or shown in "".join(said.split()) else preview
