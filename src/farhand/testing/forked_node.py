"""Nodes for tests to kill, each in a process of its own, forked from one that has loaded all modules before.

Most of a node's start is loading, which a test of kills does dozens of times and asks nothing about. Reads the
arguments of a node as a line of JSON; answers with the id of its process, and when that has ended with its exit code.
The process keeps its id until the next line, so nobody kills a stranger by it."""

import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path

from farhand.channels.kit.certificates import trusted
from farhand.testing import node

# What a node loads only when it needs it, and what its channels do.
LATER = ("anyio._backends._asyncio", "concurrent.futures.thread", "uvicorn.lifespan.off", "uvicorn.protocols.http.auto")
CHANNELS = {
    "--telegram": ("farhand.channels.telegram.channel", "httpcore", "httpcore._backends.anyio"),
    "--whatsapp": ("farhand.channels.whatsapp.phone_number", "httpcore", "httpcore._backends.anyio"),
    "--push": ("farhand.channels.push.channel",),
}


def load(arguments: list[str]) -> None:
    """Loads what a node with these arguments will need."""
    for name in (*LATER, *(name for word in arguments for name in CHANNELS.get(word, ()))):
        import_module(name)
    if CHANNELS.keys() & set(arguments):
        trusted()
    # Else the first search for garbage would copy every page that the processes share.
    gc.freeze()


def live(log: Path, arguments: list[str]) -> None:
    """One life of a node, in the forked process: without input, and with its output in that file."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, file in ((0, nothing), (1, written), (2, written)):
        os.dup2(file, number)
    os.close(nothing)
    os.close(written)
    node.main(arguments)


def tell(number: int) -> None:
    """One line to whoever asked."""
    os.write(1, f"{number}\n".encode())


def ended(process: int) -> int:
    """The exit code of a process, negative for a signal, as `subprocess` tells it; the process stays to be reaped."""
    told = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert told is not None
    return told.si_status if told.si_code == os.CLD_EXITED else -told.si_status


def main() -> None:
    """One life for each line of the input; the only argument is the file for what they print."""
    log, left = Path(sys.argv[1]), 0
    for line in sys.stdin:
        if left:
            os.waitpid(left, 0)
        arguments: list[str] = json.loads(line)
        load(arguments)
        process = os.fork()
        if not process:
            live(log, arguments)
            return
        tell(process)
        tell(ended(process))
        left = process


if __name__ == "__main__":
    main()
