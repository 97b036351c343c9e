"""`farhand remote -- AGENT …`: an agent's own terminal in this one, and its remote control beside it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.cli.node_flag import add_node
from farhand.model.errors import BadUsage

if TYPE_CHECKING:
    from farhand.cli.remote_words import AgentWords

# The key that programs must have for the remote control, where one is wanted.
KEY_VARIABLE = "FARHAND_REMOTE_KEY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `remote` takes."""
    parser.add_argument("-p", "--port", help="where programs on this machine drive it (default: one that is free)")
    parser.add_argument("--as", dest="worker", default="", metavar="NAME", help="join a node's team under this name")
    add_node(parser)
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- AGENT …", help="an agent's program, and its own flags"
    )


def run(arguments: argparse.Namespace) -> int:
    """Shows the agent until it ends; its exit code."""
    import anyio

    from farhand.cli.remote_agent import show_agent
    from farhand.cli.remote_control import remote_port
    from farhand.cli.tui import quiet_logs
    from farhand.config.taken_secrets import take_secrets

    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words and not arguments.worker:
        raise BadUsage("Which agent?", hints=("farhand remote -- <agent>", "farhand agents lists them"))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage("farhand remote needs a terminal.", hints=("farhand ask and farhand say need none",))
    port = remote_port(arguments.port, os.environ, "--port")
    quiet_logs()
    # Taken out, so that the agent does not have it.
    key = take_secrets(os.environ, (KEY_VARIABLE,)).get(KEY_VARIABLE, "")
    read = words_of(words) if words else None
    return anyio.run(show_agent, arguments, read, 0 if port is None else port, key)


def words_of(words: list[str]) -> AgentWords:
    """The agent's command line, read as its driver's manifest says; a program named by a path is found there."""
    from farhand import manifests
    from farhand.cli.remote_words import read_words

    path = Path(words[0])
    if len(path.parts) > 1:
        os.environ["PATH"] = f"{path.parent.resolve()}:{os.environ.get('PATH', '')}"
    abouts = [manifests.manifest(manifests.DRIVERS, name) for name in manifests.packages()]
    about = next((one for one in abouts if one.get("program") == path.name), {})
    return read_words([str(about.get("backend", path.name)), *words[1:]], about.get("flags", {}))
