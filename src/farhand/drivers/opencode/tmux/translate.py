"""Tells from OpenCode's events in which session a person at the terminal speaks. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.opencode.headless.state import OpenCodeState, OtherSession, expected_message
from farhand.drivers.opencode.schema import MessageUpdated, OpenCodeEvent, read

# In every event about a person's message, and in few others: most need not be decoded.
PERSON_MARK = b'"user"'


def other_session(event: bytes, state: OpenCodeState, known: OtherSession | None) -> OtherSession | None:
    """Where a person speaks now, if not in the worker's session; `known` is where that was before this event."""
    found = read(event, OpenCodeEvent) if PERSON_MARK in event else None
    updated = read(found.properties, MessageUpdated) if found and found.type == "message.updated" else None
    if updated is None or updated.info.role != "user":
        return known
    info = updated.info
    # Older messages come again and again: with their titles, with what they changed.
    is_new = info.id > max(state.newest, known.prompt if known else "")
    if info.sessionID == state.session:
        is_back = known is not None and info.id > known.prompt and expected_message(state, info.id) is None
        return None if is_back else known
    is_known = known is not None and known.session == info.sessionID
    if not is_new or is_known or info.sessionID in state.children:
        return known
    return OtherSession(session=info.sessionID, prompt=info.id)
