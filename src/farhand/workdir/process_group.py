"""Runs a program in a process group of its own, all of which ends when nobody waits for the program any more."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
import anyio.abc
import anyio.to_thread

from farhand.disk.group_watcher import watch_group

# It begins when it is told to: by then its group is watched. When the node dies before, it never begins.
_WHEN_TOLD = 'read -r line && exec "$@" </dev/null'
# How long a program has to put things in order when it is asked to end.
GENTLE_SECONDS = 5.0


def running_shell(
    command: str, directory: str, environment: Mapping[str, str]
) -> AbstractAsyncContextManager[anyio.abc.Process]:
    """A shell command that this process takes along with it, however it ends: by kill -9, too."""
    return _running(("/bin/sh", "-c", command), directory, environment, signal.SIGKILL)


def running_git(
    words: Sequence[str], directory: str, environment: Mapping[str, str], complaints: int = subprocess.STDOUT
) -> AbstractAsyncContextManager[anyio.abc.Process]:
    """Git in a repository, which ends with this process, too. It is asked to, so that it takes its locks along."""
    return _running(("git", *words), directory, environment, signal.SIGTERM, complaints)


@asynccontextmanager
async def _running(
    words: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    ending: signal.Signals,
    complaints: int = subprocess.STDOUT,
) -> AsyncIterator[anyio.abc.Process]:
    heard, told = os.pipe()
    watcher = None
    try:
        command = ("/bin/sh", "-c", _WHEN_TOLD, "sh", *words)
        async with _in_group(command, directory, environment, (heard, complaints), ending) as process:
            watcher = watch_group(process.pid, ending.name.removeprefix("SIG"))
            os.write(told, b"\n")
            yield process
    finally:
        os.close(heard)
        os.close(told)
        if watcher is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(watcher.release)


@asynccontextmanager
async def _in_group(
    words: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    streams: tuple[int, int],
    ending: signal.Signals,
) -> AsyncIterator[anyio.abc.Process]:
    """The program; what it reads, and where its complaints go. What it leaves when it ends by itself may live on."""
    process = await anyio.open_process(
        words,
        cwd=directory,
        env=environment,
        stdin=streams[0],
        stdout=subprocess.PIPE,
        stderr=streams[1],
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        _signal(process, ending)
        with anyio.CancelScope(shield=True), anyio.move_on_after(GENTLE_SECONDS):
            await process.wait()
        if process.returncode is None:
            _signal(process, signal.SIGKILL)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()


def _signal(process: anyio.abc.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
