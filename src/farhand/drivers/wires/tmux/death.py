"""Waits for the end of a process that is not our child: by a pidfd where there are some, else by polling."""

from __future__ import annotations

import os
import select

import anyio

POLL_SECONDS = 0.5


async def ended(pid: int) -> None:
    """Returns when the process with this id has ended."""
    if not hasattr(os, "pidfd_open"):
        await _poll(pid)
        return
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:
        await _poll(pid)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


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
