"""The conversation as programs outside see it: what they say goes the way of what is typed."""

from __future__ import annotations

from collections.abc import Callable

from farhand.model.errors import NotReady
from farhand.model.live_session import LiveSession, Role, SessionLog, SessionMessage
from farhand.model.words import Attachment
from farhand.tui.desk import Desk


class TypedSession:
    """The conversation that the screen shows. Commands with a slash are obeyed as if they had been typed."""

    def __init__(self, desk: Desk, *, may_allow: bool) -> None:
        self._desk = desk
        self._may_allow = may_allow

    @property
    def _shown(self) -> LiveSession:
        return self._desk.session

    @property
    def log(self) -> SessionLog:
        """As `LiveSession.log`."""
        return self._shown.log

    async def other_log(self, shown: str) -> None:
        """Returns when the screen shows another conversation than that."""
        while self.log.id == shown:
            await self._desk.names_changed()

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`."""
        return await self._shown.read_older(limit)

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """As `LiveSession.say`; the screen shows it at once."""
        del attachments
        if not self.log.status.ready:
            raise NotReady(self.log.status.why or "The screen is not ready yet.")
        said = await self._desk.submit(text, key, may_allow=self._may_allow)
        return said or SessionMessage(id=0, role=Role.NOTICE, at=0.0)

    async def interrupt(self) -> bool:
        """As `LiveSession.interrupt`."""
        return await self._shown.interrupt()

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """As `LiveSession.answer`."""
        await self._shown.answer(ask, choice, note)

    async def withdraw(self, message: int) -> bool:
        """As `LiveSession.withdraw`."""
        return await self._shown.withdraw(message)

    async def raw(self, keys: str) -> None:
        """As `LiveSession.raw`."""
        await self._shown.raw(keys)

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """As `LiveSession.watch_screen`."""
        await self._shown.watch_screen(shown)
