"""A process of its own that uses a holder as a node does, made to be killed: `held_by_another.py follow|feed …`."""

import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio

from farhand.sandbox.held_child import HeldChild
from farhand.sandbox.holders import LocalHolders


async def attached(root: Path) -> AbstractAsyncContextManager[HeldChild]:
    """The held child that the test started."""
    found = await LocalHolders(root).attach("one")
    assert found is not None
    return found


async def follow(root: Path, received: Path) -> None:
    """Appends the output to a file, going on where the file ends, and prints each offset reached."""
    file = os.open(received, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    async with await attached(root) as held:
        async for chunk, offset in held.follow(os.fstat(file).st_size):
            assert os.write(file, chunk) == len(chunk)
            print(offset, flush=True)


async def feed(root: Path, first: int, last: int, size: int) -> None:
    """Feeds numbered lines, and prints each number when it was taken."""
    async with await attached(root) as held:
        for number in range(first, last):
            print("feeding", number, flush=True)
            outcome = await held.feed(f"key {number}", f"{number}".rjust(size).encode() + b"\n")
            print(outcome, number, flush=True)


if __name__ == "__main__":
    operation, root, *arguments = sys.argv[1:]
    if operation == "follow":
        anyio.run(follow, Path(root), Path(arguments[0]))
    else:
        first, last, size = map(int, arguments)
        anyio.run(feed, Path(root), first, last, size)
