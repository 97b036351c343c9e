"""Whether a session obeys its worker's mode, and how it is made to."""

from __future__ import annotations

from farhand.drivers.opencode import modes
from farhand.drivers.opencode.headless.api import Api
from farhand.drivers.opencode.schema import OpenCodeSession
from farhand.model.words import Mode


async def obeying(api: Api, session: OpenCodeSession, mode: Mode) -> None:
    """Gives the session the rules of the mode, unless it has them."""
    if not obeys(session, mode):
        await api.add_rules(session.id, modes.rules(mode))


def obeys(session: OpenCodeSession, mode: Mode) -> bool:
    """Whether the mode's rules are the last whole set that the session has; single ones were allowed since."""
    wanted = modes.rules(mode)
    starts = [number for number, one in enumerate(session.permission) if one == wanted[0]]
    blocks = [number for number, one in enumerate(session.permission) if one.get("permission") == "*"]
    start = starts[-1] if starts and starts[-1] == blocks[-1] else -1
    return start >= 0 and session.permission[start : start + len(wanted)] == wanted
