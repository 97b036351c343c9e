"""The past of a worker in the log of its conversation: the newest page at first, older ones when they are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from farhand.model import facts
from farhand.model.history import LONGEST_PAGE, HistoryEntry, HistoryPage, TurnEntry
from farhand.model.live_session import LiveSession, MessageState, Role, SessionPart
from farhand.model.ports import Hub
from farhand.model.provenance import shown_text
from farhand.model.words import HowEnded, MessageId, Seq, WorkerName
from farhand.remote.log import MemoryLog, NewMessage
from farhand.remote.shapes import is_said

# How many entries a screen is given at once.
PAGE = 60
ENDED = {
    HowEnded.COMPLETED: MessageState.DONE,
    HowEnded.INTERRUPTED: MessageState.INTERRUPTED,
    HowEnded.PARKED: MessageState.INTERRUPTED,
}


class _Past(NamedTuple):
    """A message of the past: with its name where a person sent it, or as the open answer."""

    message: NewMessage
    name: MessageId | None = None
    is_open: bool = False


class WorkerPast:
    """Reads a worker's past into the log, page by page; all who speak in the conversation share it."""

    def __init__(self, hub: Hub, worker: WorkerName, log: MemoryLog, ids: dict[MessageId, int]) -> None:
        self._hub, self._worker, self._log = hub, worker, log
        self._ids = ids
        self._before: Seq | None = None
        self._reading = asyncio.Lock()

    async def open(self) -> tuple[Seq, int | None]:
        """Reads the newest page; the number of the event up to which it goes, and the answer that still grows."""
        page = await self._hub.history(self._worker, limit=PAGE)
        # Every message of the past has an event of its own: so many ids are enough for all of them.
        self._log.reserve(page.seq)
        reply = self._put(page)
        return page.seq, reply

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`; of several that ask at once, each page is read for one."""
        async with self._reading:
            if self._before is None:
                return False
            self._put(await self._hub.history(self._worker, self._before, limit))
            return True

    def _put(self, page: HistoryPage) -> int | None:
        entries: Sequence[HistoryEntry] = (*page.entries, *((page.open,) if page.open else ()))
        named: dict[object, _Past] = {}
        for entry in entries:
            for one in messages_of(entry):
                if one.name not in self._ids:
                    # Without a name, each is another one.
                    named.setdefault(one.name or object(), one)
        found = list(named.values())
        added = self._log.add_above([one.message for one in found])
        for one, message in zip(found, added, strict=True):
            if one.name is not None:
                self._ids[one.name] = message
        first = page.entries[0].seq if page.more and page.entries else None
        # A page that is no older than the one before would be followed by itself for ever.
        self._before = None if first is None or (self._before is not None and first >= self._before) else first
        return next((message for one, message in zip(found, added, strict=True) if one.is_open), None)


def messages_of(entry: HistoryEntry) -> Iterator[_Past]:
    """What was said in an entry: by people, by the agent, by the node. Pure."""
    if isinstance(entry, TurnEntry):
        yield from _of_turn(entry)
        return
    match entry.event.fact:
        case facts.Said(text=text) | facts.Responded(text=text):
            yield _Past(_message(Role.MODEL, text, entry.event.at))
        case facts.Noted(text=text):
            yield _Past(_message(Role.NOTICE, text, entry.event.at))
        case _:
            pass


def _of_turn(entry: TurnEntry) -> Iterator[_Past]:
    view, ended = entry.view, entry.view.ended
    for message in entry.messages:
        yield _Past(_message(Role.USER, shown_text(message.text, message.by), message.at), message.id)
    if not entry.messages and view.typed.strip():
        yield _Past(_message(Role.USER, view.typed, view.started_at))
    parts = [SessionPart(kind="thought", text=view.thought)] if view.thought else []
    parts += [
        SessionPart(kind="tool", call=tool.call, title=tool.title, detail=tool.detail, text=tool.output, ok=tool.ok)
        for tool in view.tools
    ]
    parts += [SessionPart(kind="text", text=view.text)] if view.text else []
    state = ENDED.get(ended.how, MessageState.FAILED) if ended else MessageState.RUNNING
    yield _Past(NewMessage(Role.MODEL, view.started_at, state, tuple(parts)), is_open=ended is None)


def _message(role: Role, text: str, at: float) -> NewMessage:
    return NewMessage(role, at, MessageState.DONE, (SessionPart(kind="text", text=text),) if text else ())


async def read_back(session: LiveSession, said: int | None = None) -> None:
    """Reads until so many messages are in the log that somebody said, or all of them."""
    while said is None or sum(is_said(one) for one in session.log.messages) < said:
        if not await session.read_older(LONGEST_PAGE):
            return
