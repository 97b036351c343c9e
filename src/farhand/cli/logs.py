"""`farhand logs`: prints a node's log for people, and follows it."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.places import node_folder
from farhand.model.compat import LOG_FILE, TUNNEL_LOG_FILE
from farhand.model.errors import NodeError
from farhand.model.visible import visible

LOOK_SECONDS = 0.2
END_BYTES = 4_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `logs` takes."""
    add_node(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what is logged from now on")
    parser.add_argument("--lines", type=int, default=50, metavar="COUNT", help="how many of the last (default: 50)")
    parser.add_argument("--tunnel", action="store_true", help="the tunnel's log instead of the node's")
    parser.add_argument("--json", action="store_true", help="the lines as they are in the file")


def run(arguments: argparse.Namespace) -> int:
    """Prints it."""
    node = choose(arguments)
    path = node_folder(node, os.environ) / (TUNNEL_LOG_FILE if arguments.tunnel else LOG_FILE)
    if not path.exists():
        raise NodeError(f"Node '{node}' has no log yet.", hints=(f"farhand run --node {node}",))
    show = _as_it_is if arguments.json else readable
    with path.open("rb") as file:
        lines, end = last_lines(file, arguments.lines, whole=arguments.follow)
    _write(show(line) for line in lines)
    if arguments.follow:
        for line in follow(path, end):
            _write([show(line)])
    return 0


def _write(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _as_it_is(line: str) -> str:
    return line


def readable(line: str) -> str:
    """One line of JSON as a person reads it; a line that is none, with nothing hidden in it."""
    try:
        said = json.loads(line)
        at, level, event = said.pop("timestamp", ""), said.pop("level", ""), said.pop("event", "")
    except (ValueError, AttributeError, TypeError):
        return visible(line)
    fields = " ".join(f"{name}={value}" for name, value in said.items())
    return visible(f"{str(at)[:19].replace('T', ' ')} {level:<8}{event}  {fields}".rstrip())


def last_lines(file: BinaryIO, count: int, *, whole: bool) -> tuple[list[str], int]:
    """The last lines of a file, and the place behind them; one that is not yet whole may be left for later."""
    start = max(0, file.seek(0, os.SEEK_END) - END_BYTES)
    file.seek(start)
    read = file.read()
    read = read[: read.rfind(b"\n") + 1] if whole else read
    lines = read.decode("utf-8", "replace").splitlines()
    return lines[-count:] if count > 0 else [], start + len(read)


def follow(path: Path, start: int) -> Iterator[str]:
    """What is added behind that place, also after the file has been put aside for a new one."""
    file = path.open("rb")
    file.seek(start)
    rest = b""
    while True:
        if piece := file.read():
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in lines)
            continue
        if _is_replaced(path, file.fileno()):
            file.close()
            file = path.open("rb")
            continue
        time.sleep(LOOK_SECONDS)


def _is_replaced(path: Path, opened: int) -> bool:
    try:
        return path.stat().st_ino != os.fstat(opened).st_ino
    except OSError:
        return False
