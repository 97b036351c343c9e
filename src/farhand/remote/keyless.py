"""A conversation for programs without a key: they say words, and nothing that a CLI would take for an order."""

from __future__ import annotations

from collections.abc import Callable

from farhand.model.agent_orders import begins_as_order
from farhand.model.errors import NotAllowed
from farhand.model.live_session import LiveSession, SessionLog, SessionMessage
from farhand.model.words import Attachment


def refuse_orders(text: str) -> None:
    """Raises NotAllowed for what begins as an order to an agent's own program."""
    if begins_as_order(text):
        raise NotAllowed(
            "What begins with /, ! or # is an order to the agent's own program: that needs a key, which no agent "
            "has (FARHAND_REMOTE_KEY), or is typed in its terminal."
        )


class KeylessSession:
    """A program that the agent runs is of the same user: it must not change what the agent may do."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session

    @property
    def log(self) -> SessionLog:
        """As `LiveSession.log`."""
        return self._session.log

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`."""
        return await self._session.read_older(limit)

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """As `LiveSession.say`; raises NotAllowed for what begins as an order to the CLI itself."""
        refuse_orders(text)
        return await self._session.say(text, key, attachments)

    async def interrupt(self) -> bool:
        """As `LiveSession.interrupt`."""
        return await self._session.interrupt()

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """As `LiveSession.answer`."""
        await self._session.answer(ask, choice, note)

    async def withdraw(self, message: int) -> bool:
        """As `LiveSession.withdraw`."""
        return await self._session.withdraw(message)

    async def raw(self, keys: str) -> None:
        """As `LiveSession.raw`: never."""
        del keys
        raise NotAllowed("Keys are pressed with a key alone: FARHAND_REMOTE_KEY.")

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """As `LiveSession.watch_screen`."""
        await self._session.watch_screen(shown)
