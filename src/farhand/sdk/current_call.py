"""The call that is running now: its id, and the argument list that a shell line was approved as."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_CALL: ContextVar[tuple[str, tuple[str, ...]]] = ContextVar("current_call", default=("", ()))


def approved_argv() -> tuple[str, ...]:
    """What may run in this call, without a shell; empty where the whole line was allowed."""
    return _CALL.get()[1]


def current_call_id() -> str:
    """The id of the call whose tool runs here; empty outside of one."""
    return _CALL.get()[0]


@contextmanager
def running_call(call_id: str, argv: tuple[str, ...]) -> Generator[None]:
    """While the context is open, the tool that runs in it may run this alone."""
    token = _CALL.set((call_id, argv))
    try:
        yield
    finally:
        _CALL.reset(token)
