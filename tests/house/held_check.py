"""A sprint's check that tells when it has begun and then waits for ever, and what shows that nothing is left of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio

from farhand.testing.house import SAFETY_SECONDS

BEGUN, ENDED = b"begun\n", b""


class HeldCheck:
    """Its shell and a program below that hold one pipe open, which ends when both are gone."""

    def __init__(self, folder: Path) -> None:
        told, self._held = folder / "told", folder / "held"
        os.mkfifo(told)
        os.mkfifo(self._held)
        self.command = f"exec 9>'{told}'; echo begun >&9; (cat '{self._held}'; echo over >&9); true"
        self._reader = os.open(told, os.O_RDONLY | os.O_NONBLOCK)

    async def tells(self) -> bytes:
        """What it tells next: that it has begun, that it is over, or by its silence that it is gone."""
        with anyio.fail_after(SAFETY_SECONDS):
            await anyio.wait_readable(self._reader)
        return os.read(self._reader, 100)

    def close(self) -> None:
        """Nobody listens any more; one that still waits goes on, so that a test that fails leaves none behind."""
        with suppress(OSError):
            os.close(os.open(self._held, os.O_WRONLY | os.O_NONBLOCK))
        os.close(self._reader)


@contextmanager
def held_check(folder: Path) -> Iterator[HeldCheck]:
    """A check whose pipes are in that folder."""
    check = HeldCheck(folder)
    try:
        yield check
    finally:
        check.close()
