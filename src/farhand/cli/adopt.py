"""`farhand adopt`: takes a conversation that an agent has on the node's machine up as a worker."""

import argparse
from pathlib import Path

from farhand.cli.options import add_node, new_id
from farhand.cli.simple import send
from farhand.model.commands import Hire
from farhand.model.present import WIRE
from farhand.model.words import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `adopt` takes."""
    add_node(parser)
    parser.add_argument("backend", help="the kind of agent")
    parser.add_argument("session", help="the conversation's id, or its beginning; `farhand sessions` lists them")
    parser.add_argument("worker", nargs="?", default="", help="the worker's name (default: after its folder)")
    parser.add_argument("--folder", default="", help="look in this folder alone (default: in every one)")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what it may do unasked")
    parser.add_argument("--wire", help="how its agent is reached, by name")
    parser.add_argument("--anyway", action="store_true", help="although it is still open at the desk")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    command = Hire(
        id=new_id(),
        worker=arguments.worker,
        backend=arguments.backend,
        session=arguments.session,
        directory=str(Path(arguments.folder).absolute()) if arguments.folder else "",
        mode=Mode(arguments.mode) if arguments.mode else None,
        options={WIRE: arguments.wire} if arguments.wire else {},
        anyway=arguments.anyway,
    )
    return send(arguments, command, "{worker} goes on with that conversation.")
