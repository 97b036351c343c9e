"""Resets a translation's state when the agent's conversation has another id than before. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from farhand.drivers.wires.tmux.delivered import ExpectedMessage
from farhand.model.facts import SessionKnown
from farhand.model.ports import Heard


class SessionState(Protocol):
    """What a translation remembers between records, as far as it matters here."""

    @property
    def session(self) -> str: ...
    @property
    def expected(self) -> tuple[ExpectedMessage, ...]: ...
    @property
    def skipped(self) -> int: ...


AnyState = TypeVar("AnyState", bound=SessionState)


def another_session(
    session: str, state: AnyState, end: Callable[[], tuple[list[Heard], AnyState]], begin: Callable[..., AnyState]
) -> tuple[list[Heard], AnyState]:
    """The turn that ran is over, and a state begins that knows what is still expected."""
    if not session or session == state.session:
        return [], state
    ended, over = end()
    fresh = begin(session=session, expected=over.expected, skipped=over.skipped)
    return [*ended, Heard(fact=SessionKnown(session=session))], fresh
