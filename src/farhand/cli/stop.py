"""`farhand stop`: stops a node with its tunnel and its agents, and waits until they are gone."""

import argparse
import os
import sys

from farhand.cli.end_node import end_agents, end_bridge, end_tunnel, is_anything_left
from farhand.cli.node_choice import choose, known_nodes
from farhand.cli.node_flag import add_node
from farhand.config.places import node_folder
from farhand.model.errors import FarhandError, NodeError, NodeNotRunning
from farhand.store.folder import running


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `stop` takes."""
    add_node(parser)
    parser.add_argument("--all", action="store_true", help="every node")
    parser.add_argument("--keep-workers", action="store_true", help="leave the agents alive; the next run finds them")
    parser.add_argument("-f", "--force", action="store_true", help="ask nothing, though somebody is at work")


def run(arguments: argparse.Namespace) -> int:
    """Stops it, or all of them."""
    if not arguments.all:
        stop(choose(arguments), arguments)
        return 0
    found = [node for node in known_nodes() if is_anything_left(node, agents=not arguments.keep_workers)]
    if not found:
        sys.stdout.write("No node is running.\n")
    failed = [error for node in found if (error := _attempt(node, arguments)) is not None]
    if failed:
        raise NodeError("; ".join(failed))
    return 0


def _attempt(node: str, arguments: argparse.Namespace) -> str | None:
    """One node that does not stop keeps none of the others."""
    try:
        stop(node, arguments)
    except FarhandError as error:
        return error.text
    return None


def stop(node: str, arguments: argparse.Namespace) -> None:
    """Stops one node; says what was ended."""
    folder = node_folder(node, os.environ)
    if not arguments.keep_workers:
        _ask_first(node, arguments)
    process = end_bridge(node, folder)
    tunnel = end_tunnel(folder)
    agents = [] if arguments.keep_workers else end_agents(node, folder)
    if process is None and not tunnel and not agents:
        raise NodeNotRunning(f"Node '{node}' is not running.", hints=("farhand status --all tells what runs",))
    told = f"Node '{node}' stopped." if process is not None else f"Node '{node}' was not running."
    parts = ["The tunnel ended."] if tunnel else []
    parts += [f"{len(agents)} agent{'s' * (len(agents) > 1)} ended: {', '.join(agents)}."] if agents else []
    sys.stdout.write(" ".join([told, *parts]) + "\n")


def _ask_first(node: str, arguments: argparse.Namespace) -> None:
    """On a terminal, a person is asked before agents are ended in the middle of something."""
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    if arguments.force or arguments.headless or not asks or running(node_folder(node, os.environ)) is None:
        return
    from farhand.cli.quick_status import quick_status

    status = quick_status(node_folder(node, os.environ))
    busy = [one["name"] for one in (status or {}).get("workers", ()) if one["state"] in ("working", "waiting")]
    if not busy:
        return
    sys.stderr.write(f"At work: {', '.join(busy)}. End them, too? (stop --keep-workers leaves them) [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise NodeError("Nothing was stopped.", hints=("farhand stop --keep-workers",))
