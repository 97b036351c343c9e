"""A desk that is still being opened: the screen is there already, and what is typed waits for it. Loads little."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio

from farhand.model.errors import FarhandError
from farhand.model.live_session import LiveSession, SessionMessage, SessionName
from farhand.remote.no_session import NoSession
from farhand.tui.desk import Completion, Desk, EarlierSessions

OPENING = "A moment…"


class RunningDesk(Desk, Protocol):
    """A desk that works until it is cancelled."""

    def set_ready(self, ready: bool) -> None:
        """The screen is there, or gone."""
        ...

    async def run(self) -> None:
        """Works until it is cancelled."""
        ...


D = TypeVar("D", bound=RunningDesk)


class OpeningDesk(Generic[D]):
    """Becomes the desk that `opening` makes: at once with `open`, or while the screen is shown, in `run`."""

    def __init__(self, title: str, opening: Callable[[], Awaitable[D]]) -> None:
        self.leaving = anyio.Event()
        # Why there will be none.
        self.problem: FarhandError | None = None
        self._title, self._opening = title, opening
        self._desk: D | None = None
        self._shown = anyio.Event()
        self._opened = anyio.Event()
        self._before: LiveSession = NoSession(OPENING, ready=True)
        self._is_ready = False

    async def open(self) -> D:
        """Makes the desk, once. Raises FarhandError."""
        if self._desk is None:
            self._desk = await self._opening()
            self._desk.set_ready(self._is_ready)
            self._opened.set()
        return self._desk

    async def run(self) -> None:
        """Makes the desk and works there; where it cannot be made, the app is left, and `problem` says why."""
        # Not before: whoever waits for the screen does not wait for this.
        await self._shown.wait()
        try:
            desk = await self.open()
        except FarhandError as error:
            self.problem = error
            self.leaving.set()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.run, name="desk")
            await desk.leaving.wait()
            self.leaving.set()

    def set_ready(self, ready: bool) -> None:
        """The screen is there, or gone."""
        self._is_ready = ready
        self._shown.set()
        if self._desk is not None:
            self._desk.set_ready(ready)

    async def _there(self) -> D:
        while self._desk is None:
            await self._opened.wait()
        return self._desk

    @property
    def title(self) -> str:
        """As `Desk.title`."""
        return self._title if self._desk is None else self._desk.title

    @property
    def session(self) -> LiveSession:
        """As `Desk.session`."""
        return self._before if self._desk is None else self._desk.session

    @property
    def names(self) -> tuple[SessionName, ...]:
        """As `Desk.names`."""
        return () if self._desk is None else self._desk.names

    async def names_changed(self) -> None:
        """As `Desk.names_changed`."""
        if self._desk is None:
            await self._opened.wait()
        else:
            await self._desk.names_changed()

    async def select(self, name: str) -> None:
        """As `Desk.select`."""
        await (await self._there()).select(name)

    async def submit(self, text: str, key: str = "", *, may_allow: bool = True) -> SessionMessage | None:
        """As `Desk.submit`; it waits until there is somebody to say it to."""
        return await (await self._there()).submit(text, key, may_allow=may_allow)

    def completions(self, word: str, *, first: bool) -> list[Completion]:
        """As `Desk.completions`."""
        return [] if self._desk is None else self._desk.completions(word, first=first)

    async def earlier(self, text: str) -> EarlierSessions | None:
        """As `Desk.earlier`."""
        return await (await self._there()).earlier(text)

    async def resume(self, session: str) -> str:
        """As `Desk.resume`."""
        return await (await self._there()).resume(session)
