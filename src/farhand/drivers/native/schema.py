"""The words that the native agent adds to the line protocol, checked once, here."""

import msgspec

from farhand.model.words import Word


class SessionLine(Word):
    """The agent's session has this id."""

    session: str


def read_session(line: bytes) -> str:
    """The id that a session line names; empty for any other line."""
    if not line.startswith(b'{"session"'):
        return ""
    try:
        return msgspec.json.decode(line, type=SessionLine).session
    except msgspec.MsgspecError:
        return ""
