"""The live events of a conversation, as server-sent events that can be resumed at any number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Protocol, runtime_checkable

import msgspec

from farhand.model.errors import FarhandError
from farhand.model.live_session import LiveSession, Role, SessionChanges, SessionLog
from farhand.remote.past import read_back
from farhand.remote.shapes import Json, ask_json, status_json, update_json

HEARTBEAT_SECONDS = 15.0
# What comes within this time after something was sent goes together.
BATCH_SECONDS = 0.02
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def place(log: SessionLog, last_event_id: str) -> tuple[int, bool]:
    """The number to go on after, and whether nothing between is missing.

    A log keeps every message as it is now, so that only the number of another log cannot be gone on from."""
    name, _, number = last_event_id.partition(":")
    if not last_event_id:
        return 0, True
    known = name == log.id and number.isascii() and number.isdigit() and len(number) < 19 and int(number) <= log.number
    return (int(number), True) if known else (0, False)


@runtime_checkable
class ShowsOthers(Protocol):
    """A conversation whose place another one may take: what the screen shows."""

    async def other_log(self, shown: str) -> None:
        """Returns when another log than that one is shown."""
        ...


class ScreenShown:
    """What the agent's own terminal shows, and whether the reader has it already."""

    def __init__(self) -> None:
        self._text = ""
        self.changed = asyncio.Event()

    def show(self, text: str) -> None:
        """It shows this now."""
        if text != self._text:
            self._text = text
            self.changed.set()

    def take(self) -> str | None:
        """What it shows, where that is news."""
        if not self.changed.is_set():
            return None
        self.changed.clear()
        return self._text


async def stream(session: LiveSession, last_event_id: str) -> AsyncIterator[bytes]:
    """The events of the conversation, and of the one that comes in its place: then a `resume` stands between them."""
    while True:
        log = session.log
        other = asyncio.ensure_future(session.other_log(log.id) if isinstance(session, ShowsOthers) else _never())
        try:
            async with aclosing(_follow(session, log, last_event_id, other)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            other.cancel()
        # Of the log before: a gap.
        last_event_id = f"{log.id}:{log.number}"


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _never() -> None:
    await asyncio.Event().wait()


async def _follow(
    session: LiveSession, log: SessionLog, last_event_id: str, other: asyncio.Future[None]
) -> AsyncGenerator[bytes]:
    """First whether the reader has missed something (`resume`), then every change, each batch under one id."""
    screen = ScreenShown()
    after, whole = place(log, last_event_id)
    if not after:
        try:
            await read_back(session)
        except FarhandError:
            # The node is away: what is older than this cannot be had now.
            whole = False
    # A task of its own: whoever reads these pieces may be another one each time.
    watching = asyncio.ensure_future(session.watch_screen(screen.show))
    try:
        yield _event("resume", {"resume": "whole" if whole else "gap", "log": log.id, "after": after})
        while not other.done():
            changes = log.changes(after)
            told = _told(log, changes)
            if (shown := screen.take()) is not None:
                told.append(("screen_update", {"screen": shown}))
            if told:
                yield b"".join(_event(name, data) for name, data in told[:-1])
                yield _event(*told[-1], identity=f"{log.id}:{changes.number}")
            after = changes.number
            await asyncio.sleep(BATCH_SECONDS)
            while not await _changed(log, after, screen, other):
                yield b": still here\n\n"
    finally:
        watching.cancel()


async def _changed(log: SessionLog, after: int, screen: ScreenShown, other: asyncio.Future[None]) -> bool:
    """Waits for news of the conversation or of the terminal, or for another one; False when there are none for a
    while."""
    if log.number > after or screen.changed.is_set() or other.done():
        return True
    waits = [asyncio.ensure_future(log.wait(after)), asyncio.ensure_future(_set(screen.changed))]
    try:
        done, _ = await asyncio.wait([*waits, other], timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for one in waits:
            one.cancel()


def _told(log: SessionLog, changes: SessionChanges) -> list[tuple[str, Json]]:
    told: list[tuple[str, Json]] = []
    for message in changes.messages:
        if message.role is not Role.NOTICE:
            told.append(("message_update", update_json(message)))
        elif message.text:
            told.append(("notice", {"text": message.text}))
        else:
            # One that was taken back comes once more, without words.
            told.append(("message_removed", {"id": message.id}))
    if changes.asks is not None:
        told.append(("asks", {"asks": [ask_json(one) for one in changes.asks]}))
    if changes.status is not None or changes.asks is not None:
        told.append(("status_change", status_json(log.status, len(log.asks))))
    return told


def _event(name: str, data: Json, identity: str = "") -> bytes:
    head = f"id: {identity}\n" if identity else ""
    return f"{head}event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"
