"""The argument list that a shell line was approved as: from the one who judged the call to the tool that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ARGV: ContextVar[tuple[str, ...]] = ContextVar("approved_argv", default=())


def approved_argv() -> tuple[str, ...]:
    """What may run in this call, without a shell; empty where the whole line was allowed."""
    return _ARGV.get()


@contextmanager
def approved_as(argv: tuple[str, ...]) -> Iterator[None]:
    """While the context is open, the tool that runs in it may run this alone."""
    token = _ARGV.set(argv)
    try:
        yield
    finally:
        _ARGV.reset(token)
