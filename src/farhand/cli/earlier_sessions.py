"""The conversations that `farhand tui` can go on with, as its list shows them: an agent's own, and a node's."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from farhand.channels.kit.session_list import ago
from farhand.tui.desk import EarlierSession, EarlierSessions

if TYPE_CHECKING:
    from farhand.model.ports import SessionFound
    from farhand.sdk.recorded_sessions import RecordedSession


def of_agent(recorded: Iterable[RecordedSession], shown: str, folder: str, now: float) -> EarlierSessions:
    """What is recorded of a folder, the latest first; the one that is shown says so."""
    sessions = tuple(
        EarlierSession(
            id=one.id,
            title=one.name or one.opening,
            when=_when(one.updated, now),
            size=f"{one.messages} message{'' if one.messages == 1 else 's'}",
            note="this conversation" if one.id == shown else "",
        )
        for one in recorded
        if one.messages
    )
    return EarlierSessions(title=f"Earlier conversations of {folder}", sessions=sessions)


def of_node(found: Iterable[SessionFound], now: float) -> EarlierSessions:
    """What agents have on a node's machine; those that a worker has already say whose they are."""
    sessions = tuple(
        EarlierSession(
            id=node_session_id(one),
            title=one.title,
            when=ago(now - one.at),
            size=one.backend,
            note=f"{one.directory}{_whose(one)}",
        )
        for one in found
    )
    return EarlierSessions(title="Conversations on the node's machine", sessions=sessions)


def node_session_id(one: SessionFound) -> str:
    """Names it among those of all agents."""
    return f"{one.backend} {one.id}"


def _whose(one: SessionFound) -> str:
    return f" · {one.worker} has it" if one.worker else " · open at the desk" if one.open else ""


def _when(moment: str, now: float) -> str:
    """How long ago, of a moment that a file tells; nothing for one that is no moment."""
    try:
        return ago(now - datetime.fromisoformat(moment).timestamp())
    except (ValueError, OverflowError, OSError):
        return ""
