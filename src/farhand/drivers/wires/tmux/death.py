"""Waits for the end of a process that is not our child: by a pidfd where there are some, else by polling."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio

POLL_SECONDS = 0.5


class WatchedProcess:
    """A process that is not our child, known by its pidfd from now on."""

    def __init__(self, pid: int, descriptor: int | None) -> None:
        self._pid = pid
        self._descriptor = descriptor

    async def wait(self) -> None:
        """Returns when it has ended."""
        await (_poll(self._pid) if self._descriptor is None else anyio.wait_readable(self._descriptor))

    async def wait_or_kill(self, grace_seconds: float) -> None:
        """Returns when it has ended; kills it when that takes longer."""
        with anyio.move_on_after(grace_seconds):
            await self.wait()
            return
        with suppress(ProcessLookupError, PermissionError):
            if self._descriptor is None:
                os.kill(self._pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        with anyio.move_on_after(grace_seconds):
            await self.wait()


@contextmanager
def watched(pid: int) -> Iterator[WatchedProcess]:
    """The process with this id; one that is gone already has ended."""
    try:
        descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        # Gone, which polling finds out at once; or a system without pidfds.
        descriptor = None
    try:
        yield WatchedProcess(pid, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


async def ended(pid: int) -> None:
    """Returns when the process with this id has ended."""
    with watched(pid) as process:
        await process.wait()


def is_over(pid: int) -> bool:
    """Whether the process has ended, though its parent may not have asked for its status yet."""
    if not hasattr(os, "pidfd_open"):
        return not is_alive(pid)
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except OSError:
        return not is_alive(pid)
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    finally:
        os.close(descriptor)


async def _poll(pid: int) -> None:
    # Systems without pidfd cannot tell us: asking twice a second costs two system calls.
    while is_alive(pid):  # noqa: ASYNC110
        await anyio.sleep(POLL_SECONDS)


def is_alive(pid: int) -> bool:
    """Whether there is a process with this id, whoever it belongs to."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
