"""The live events of a conversation, as server-sent events that can be resumed at any number."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import msgspec

from farhand.model.live_session import LiveSession, Role, SessionChanges, SessionLog
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


async def stream(session: LiveSession, last_event_id: str) -> AsyncIterator[bytes]:
    """First whether the reader has missed something (`resume`), then every change, each batch under one id."""
    log = session.log
    after, whole = place(log, last_event_id)
    yield _event("resume", {"resume": "whole" if whole else "gap", "log": log.id, "after": after})
    shown = ""
    while True:
        changes = log.changes(after)
        told = _told(log, changes)
        if (now := await session.screen()) != shown:
            shown = now
            told.append(("screen_update", {"screen": now}))
        if told:
            yield b"".join(_event(name, data) for name, data in told[:-1])
            yield _event(*told[-1], identity=f"{log.id}:{changes.number}")
        after = changes.number
        await anyio.sleep(BATCH_SECONDS)
        woken = False
        while not woken:
            with anyio.move_on_after(HEARTBEAT_SECONDS):
                await log.wait(after)
                woken = True
            if not woken:
                yield b": still here\n\n"


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
