"""`farhand adapter` as a program that relies on it calls it, and its processes killed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
from anyio.abc import Process

from farhand.testing.sdk_env import until

COMMAND = (sys.executable, "-m", "farhand", "adapter")


async def adapter(environ: dict[str, str], *words: str) -> tuple[int, str]:
    """Its exit code, and what it complains of."""
    with anyio.fail_after(240):
        done = await anyio.run_process([*COMMAND, *words], env=environ, check=False, stdin=-3)
    return done.returncode, done.stderr.decode()


async def begun(environ: dict[str, str], *words: str) -> Process:
    """One that runs."""
    return await anyio.open_process([*COMMAND, *words], env=environ, stdin=-3, stdout=-3, stderr=-3)


def follower(process: Process) -> int:
    """The process apart that brings the adapter's answer."""
    (found,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(found)


async def killed(process: Process, *others: int) -> None:
    """Kills the adapter, and the others; they are gone then."""
    process.kill()
    await process.aclose()
    for other in others:
        os.kill(other, signal.SIGKILL)
    await until(lambda: not any(map(running, others)))


def running(pid: int) -> bool:
    """Whether there is more left of it than its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
