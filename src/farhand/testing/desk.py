"""A desk without agents, for tests and pictures: what is said in it is written down."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from farhand.cli.tui_agent import SURFACE, slash_completions
from farhand.model.errors import UnknownAsk
from farhand.model.live_session import MessageState, Role, SessionMessage, SessionName, SessionStatus
from farhand.model.words import Attachment
from farhand.remote.log import MemoryLog
from farhand.tui.desk import Completion, EarlierSessions

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from farhand.tui.app import TerminalApp


@asynccontextmanager
async def piloted(
    app: TerminalApp, *, size: tuple[int, int] = (80, 24), notifications: bool = False
) -> AsyncIterator[Pilot[None]]:
    """The app with Textual's pilot.

    As in a real terminal, what the app does in the background ends before its screen is taken down.
    """
    async with app.run_test(size=size, notifications=notifications) as pilot:
        try:
            yield pilot
        finally:
            app.workers.cancel_all()


class ScriptedSession:
    """A conversation whose other side is the test."""

    def __init__(self, status: SessionStatus | None = None) -> None:
        self.log = MemoryLog(lambda: 1_790_000_000.0, status)
        self.answers: list[tuple[str, str, str]] = []
        self.interrupts = 0

    def set_ready(self, ready: bool) -> None:
        """The screen is there, or gone."""
        self.log.set_status(ready=ready)

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`: all of it is there."""
        del limit
        return False

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """Writes it down; during a turn it waits."""
        del key, attachments
        state = MessageState.QUEUED if self.log.status.running else MessageState.DONE
        return self.log.add(Role.USER, text, state)

    async def interrupt(self) -> bool:
        """Counts."""
        self.interrupts += 1
        return self.log.status.running

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """Writes it down and takes the question away."""
        if ask not in [one.id for one in self.log.asks]:
            raise UnknownAsk(ask)
        self.answers.append((ask, choice, note))
        self.log.set_asks(tuple(one for one in self.log.asks if one.id != ask))

    async def withdraw(self, message: int) -> bool:
        """Takes it out."""
        return self.log.remove_waiting(message)

    async def raw(self, keys: str) -> None:
        """Does nothing."""

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """There is none."""


class ScriptedDesk:
    """One conversation that is shown, and the names of others."""

    def __init__(self, session: ScriptedSession, names: tuple[SessionName, ...] = (), title: str = "farhand") -> None:
        self.session = session
        self.names = names
        self.title = title
        self.leaving = anyio.Event()
        self.submitted: list[str] = []
        self.selected: list[str] = []
        self.recorded = EarlierSessions(title="Earlier conversations", sessions=())
        self.resumed: list[str] = []

    async def earlier(self, text: str) -> EarlierSessions | None:
        """Those that the test gave it."""
        return self.recorded if text == "/sessions" else None

    async def resume(self, session: str) -> str:
        """Writes it down."""
        self.resumed.append(session)
        return ""

    async def names_changed(self) -> None:
        """They never do."""
        await anyio.sleep_forever()

    async def select(self, name: str) -> None:
        """Writes it down."""
        self.selected.append(name)

    async def submit(self, text: str, key: str = "", *, may_allow: bool = True) -> SessionMessage | None:
        """Writes it down and says it."""
        del may_allow
        self.submitted.append(text)
        return await self.session.say(text, key)

    def completions(self, word: str, *, first: bool) -> list[Completion]:
        """The commands."""
        return slash_completions(SURFACE, word) if first else []
