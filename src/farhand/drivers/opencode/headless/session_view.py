"""A session as it stands, fetched whole before any of it is told; and what is due once it was told."""

from __future__ import annotations

import msgspec

from farhand.drivers.opencode.headless.api import Api
from farhand.drivers.opencode.schema import OpenCodeMessage, OpenCodePermission, OpenCodeQuestions


class SessionSeen(msgspec.Struct, frozen=True):
    """What a look at a session found."""

    messages: list[OpenCodeMessage]
    permissions: list[OpenCodePermission]
    questions: list[OpenCodeQuestions]
    busy: bool
    # Only of a session that is busy.
    children: tuple[str, ...] = ()

    @property
    def waiting(self) -> set[str]:
        """The requests that wait."""
        return {one.id for one in self.permissions} | {one.id for one in self.questions}


class Due(msgspec.Struct, frozen=True):
    """What is to be done after the facts are told: should it fail, the next look finds it due again."""

    # Requests that need no answer of a person, and those that nobody waits for any more.
    granted: tuple[OpenCodePermission, ...] = ()
    refused: tuple[OpenCodePermission, ...] = ()
    abort: bool = False


async def look(api: Api, session: str, after: str) -> SessionSeen:
    """What came after that message, and what waits."""
    # First: what waits in a session that is at rest later on waits for nothing.
    permissions, questions = await api.permissions(), await api.questions()
    messages = await api.messages(session, after)
    status = (await api.statuses()).get(session)
    if status is not None and status.type != "idle":
        children = tuple(one.id for one in await api.children(session))
        return SessionSeen(messages, permissions, questions, busy=True, children=children)
    # It may have come to its end in between.
    return SessionSeen(await api.messages(session, after), permissions, questions, busy=False)
