"""`farhand sessions`: lists the conversations that agents have on the node's machine."""

import argparse
import sys
from pathlib import Path

from farhand.cli.agent_flag import add_agent, settle_agent
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.cli.options import with_hub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `sessions` takes."""
    add_node(parser)
    add_agent(parser, "the kind of agent (default: all that can tell)")
    parser.add_argument("folder", nargs="?", default="", help="where they were held (default: here)")
    parser.add_argument("--all", action="store_true", help="of every folder")
    parser.add_argument("--json", action="store_true", help="one JSON object a conversation")


def run(arguments: argparse.Namespace) -> int:
    """Prints them, newest first."""
    from farhand.cli.conversation_lines import session_lines
    from farhand.model.wire import encode

    settle_agent(arguments, ("folder",), needed=False)
    folder = "" if arguments.all else str(Path(arguments.folder or ".").absolute())
    found = with_hub(arguments, lambda hub: hub.sessions(arguments.backend, folder))
    if arguments.json:
        sys.stdout.write("".join(encode(one).decode() + "\n" for one in found))
    else:
        sys.stdout.write(session_lines(found, adopt(choose(arguments))) + "\n")
    return 0


def adopt(node: str) -> str:
    """The command that takes a conversation up at that node."""
    return f"farhand adopt --node {node}"
