"""What the translation of every CLI in tmux remembers between records, and what a new session leaves of it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage
from farhand.model.facts import SessionKnown, TurnStarted
from farhand.model.names import is_session_id
from farhand.model.ports import Heard
from farhand.model.words import Word


class TmuxState(Word):
    """What a CLI's own state begins with; it travels in the link's cursor."""

    session: str = ""
    # Messages that were typed and not seen yet: a prompt with the same text is one of them.
    expected: tuple[ExpectedMessage, ...] = ()
    # Records that nobody understood.
    skipped: int = 0


State = TypeVar("State", bound=TmuxState)


def another_session(
    session: str, state: State, end: Callable[[], tuple[list[Heard], State]], begin: Callable[..., State]
) -> tuple[list[Heard], State]:
    """The conversation has another id: the turn that ran is over, and a state begins with what is still expected."""
    if session == state.session or not is_session_id(session):
        return [], state
    ended, over = end()
    fresh = begin(session=session, expected=over.expected, skipped=over.skipped)
    return [*ended, Heard(fact=SessionKnown(session=session))], fresh


def started_by(found: ExpectedMessage | None, text: str) -> TurnStarted:
    """The start of a turn of its own: with what was typed at the desk, or with a message that was to join a turn."""
    return TurnStarted(text=text) if found is None else TurnStarted(joined=found.message)
