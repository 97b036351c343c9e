"""Small programs for holders to hold, and what the tests ask of running processes."""

import os
import select
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from farhand.sandbox.held_child import HeldChild
from farhand.sandbox.holders import LocalHolders
from farhand.sandbox.sweep import read_process

SAFETY_SECONDS = 240

# Writes argv[2] random bytes of seed argv[1] in pieces of odd sizes.
BABBLE = """
import random, sys
chance = random.Random(int(sys.argv[1]))
data = random.Random(int(sys.argv[1])).randbytes(int(sys.argv[2]))
place = 0
while place < len(data):
    size = chance.randrange(1, 200_000)
    sys.stdout.buffer.write(data[place : place + size])
    sys.stdout.buffer.flush()
    place += size
"""

# Writes every line it gets to the file argv[1], and has it on disk before the next.
SCRIBE = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for line in sys.stdin.buffer:
    os.write(file, line)
    os.fsync(file)
"""

# Reads nothing until it gets SIGUSR1; says so when it is ready to get it.
DEAF = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("deaf", flush=True)
signal.sigwait({signal.SIGUSR1})
sys.stdout.buffer.write(sys.stdin.buffer.read())
"""


def python(program: str, *arguments: object) -> list[str]:
    """The command that runs one of these programs."""
    return [sys.executable, "-I", "-S", "-c", program, *map(str, arguments)]


@asynccontextmanager
async def holding(
    root: Path, argv: list[str], name: str = "one", environment: Mapping[str, str] | None = None
) -> AsyncIterator[HeldChild]:
    """A held child that is gone when the test is."""
    holders = LocalHolders(root)
    variables = {"PATH": os.environ["PATH"]} if environment is None else environment
    async with await holders.start(name, argv, cwd=root, environment=variables) as held:
        try:
            yield held
        finally:
            await held.end(0)


async def read_until(held: HeldChild, wanted: bytes) -> bytes:
    """Follows from the start until the output has that."""
    found = b""
    async for chunk, _ in held.follow(0):
        found += chunk
        if wanted in found:
            break
    return found


async def begun(root: Path, feed: str = "") -> None:
    """Waits until a feed is partly in the pipe: any, or the one of that id."""
    while not any(line.startswith(b"begun") and feed.encode() in line for line in ledger(root)):  # noqa: ASYNC110
        await anyio.sleep(0.01)


def ledger(root: Path) -> list[bytes]:
    """What the holder has written down about its feeds."""
    return (root / "one" / "ledger").read_bytes().splitlines()


async def read_all(held: HeldChild, offset: int = 0) -> bytes:
    """The whole output, to the child's end."""
    return b"".join([chunk async for chunk, _ in held.follow(offset)])


def wait_gone(pid: int) -> None:
    """Returns when the process is gone, or only its exit code is left."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], SAFETY_SECONDS)[0], f"{pid} is still there"
    finally:
        os.close(handle)


def is_running(pid: int) -> bool:
    """Whether that process still runs."""
    return read_process(pid) is not None
