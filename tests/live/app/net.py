"""The net under tests that wait for a browser: each wait ends, and says what was missing."""

from __future__ import annotations

import asyncio
import linecache
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

import greenlet  # type: ignore[import-untyped]
from tests.live.nodes import SAFETY_SECONDS

# A whole test; a wait within it ends after SAFETY_SECONDS. What a script in a page waits for has no other end.
TEST_SECONDS = 3 * SAFETY_SECONDS
Found = TypeVar("Found")
TESTS = str(Path(__file__).resolve().parents[2])


def until(missing: str, look: Callable[[], Found]) -> Found:
    """Looks until something is found; fails with what is missing when that takes for ever."""
    deadline = time.monotonic() + SAFETY_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, f"{missing}, and {SAFETY_SECONDS:.0f} s did not change it"
    return found


@contextmanager
def ends(what: str, seconds: float = TEST_SECONDS) -> Iterator[None]:
    """Fails what waits here after that time, and again if its end waits, too; says at which line it waited."""
    test = greenlet.getcurrent()

    def give_up(_signal: int, frame: FrameType | None) -> None:
        is_here = greenlet.getcurrent() is test
        error = AssertionError(
            f"{what} still waits after {seconds:g} s for {_line(frame if is_here else test.gr_frame)}"
        )
        if is_here:
            raise error
        # The loop of the browser's driver waits; it is woken when the test asks for the next thing.
        loop = asyncio.get_running_loop()
        test.throw(error)
        loop.call_soon_threadsafe(lambda: None)

    before = signal.signal(signal.SIGALRM, give_up)
    left = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *left)


def _line(frame: FrameType | None) -> str:
    """The innermost line of a test, as it is written, and what its names stand for."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(TESTS) and name != __file__:
            known = {key: value for key, value in frame.f_locals.items() if isinstance(value, str | int)}
            return f"“{linecache.getline(name, frame.f_lineno).strip()}” ({Path(name).name}:{frame.f_lineno}; {known})"
        frame = frame.f_back
    return "something outside of the tests"
