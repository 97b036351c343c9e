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


class EarlierSession(Word):
    """A conversation that could be gone on with, as a person tells it from others."""

    id: str
    # Its name, or the first words of it.
    title: str
    # When it was last written to, how long it is, and whose it is or where; each as it is shown.
    when: str = ""
    size: str = ""
    note: str = ""


class EarlierSessions(Word):
    """The conversations to choose from, the latest first, and what they have in common."""

    title: str
    sessions: tuple[EarlierSession, ...]


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

    async def earlier(self, text: str) -> EarlierSessions | None:
        """The conversations that this command asks for; None for whatever asks for none. Raises FarhandError."""
        ...

    async def resume(self, session: str) -> str:
        """Takes that one of them up and shows it. Where this wants a second thought it is left as it is, and what is to
        be typed then is returned. Raises FarhandError."""
        ...
