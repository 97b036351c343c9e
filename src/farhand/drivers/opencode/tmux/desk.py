"""Where a person at the desk speaks: in the worker's session, or in another one, which is followed. Pure."""

from __future__ import annotations

from farhand.drivers.opencode.headless.state import OpenCodeState, ours
from farhand.drivers.opencode.schema import MessageUpdated, OpenCodeEvent, read
from farhand.model.words import Word

MARK = b'"user"'


class Elsewhere(Word):
    """A session in which somebody spoke at the desk, and what was said first."""

    session: str
    prompt: str

    @property
    def before(self) -> str:
        """What stands before every message from the prompt on, and after all that are older."""
        return self.prompt[:-1]


def spoken_elsewhere(came: bytes, state: OpenCodeState, known: Elsewhere | None) -> Elsewhere | None:
    """Where a person at the desk speaks now, if not in the worker's session; `known` is where that was so far."""
    found = read(came, OpenCodeEvent) if MARK in came else None
    updated = read(found.properties, MessageUpdated) if found and found.type == "message.updated" else None
    if updated is None or updated.info.role != "user":
        return known
    info = updated.info
    # Older messages come again and again: with their titles, with what they changed.
    is_new = info.id > max(state.newest, known.prompt if known else "")
    if info.sessionID == state.session:
        is_back = known is not None and info.id > known.prompt and ours(state, info.id) is None
        return None if is_back else known
    is_known = known is not None and known.session == info.sessionID
    if not is_new or is_known or info.sessionID in state.children:
        return known
    return Elsewhere(session=info.sessionID, prompt=info.id)


def is_free(state: OpenCodeState) -> bool:
    """Whether the session does nothing, and nothing is on its way to it."""
    return not state.running and not any(one.id > state.after for one in state.expected)
