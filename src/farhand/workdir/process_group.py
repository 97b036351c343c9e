"""Runs a program in a process group of its own, all of which ends when nobody waits for the program any more."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.abc
import anyio.to_thread

from farhand.disk.group_watcher import watch_group

# It begins when it is told to: by then its group is watched. When the node dies before, it never begins.
_WHEN_TOLD = 'read -r line && exec /bin/sh -c "$1" </dev/null'


@asynccontextmanager
async def running_group(
    words: Sequence[str], directory: str, environment: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> AsyncIterator[anyio.abc.Process]:
    """The program, with one stream for all that it prints. What it leaves behind when it ends by itself may live on."""
    process = await anyio.open_process(
        words,
        cwd=directory,
        env=environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()


@asynccontextmanager
async def running_shell(
    command: str, directory: str, environment: Mapping[str, str]
) -> AsyncIterator[anyio.abc.Process]:
    """A shell command that this process takes along with it, however it ends: by kill -9, too."""
    heard, told = os.pipe()
    watcher = None
    words = ("/bin/sh", "-c", _WHEN_TOLD, "sh", command)
    try:
        async with running_group(words, directory, environment, stdin=heard) as process:
            watcher = watch_group(process.pid)
            os.write(told, b"\n")
            yield process
    finally:
        os.close(heard)
        os.close(told)
        if watcher is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(watcher.release)
