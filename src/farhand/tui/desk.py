"""What the terminal app needs of whoever owns the conversations: one agent's, or those of a team."""

from __future__ import annotations

from typing import Protocol

import anyio

from farhand.model.live_session import LiveSession, SessionMessage, SessionName
from farhand.model.words import Word


class Completion(Word):
    """What a word may become, and what that does."""

    text: str
    help: str = ""


class Desk(Protocol):
    """Owns the conversations of an app."""

    @property
    def title(self) -> str:
        """What stands at the top of the screen."""
        ...

    @property
    def session(self) -> LiveSession:
        """The conversation that is shown."""
        ...

    @property
    def leaving(self) -> anyio.Event:
        """Set when the person wants to leave."""
        ...

    @property
    def names(self) -> tuple[SessionName, ...]:
        """The conversations to choose from; none where there is but one."""
        ...

    async def names_changed(self) -> None:
        """Returns when there is something new in that list, or another conversation is shown."""
        ...

    async def select(self, name: str) -> None:
        """Shows another conversation."""
        ...

    async def submit(self, text: str, key: str = "", *, may_allow: bool = True) -> SessionMessage | None:
        """What was typed, or posted from outside: a command, an answer, or a message. Raises FarhandError.

        Whoever may not allow anything answers no question, and changes nothing of what the agent may do."""
        ...

    def completions(self, word: str, *, first: bool) -> list[Completion]:
        """What the word may become; `first` when nothing stands before it."""
        ...
