"""`farhand adopt`: takes a conversation that an agent has on the node's machine up as a worker."""

import argparse
from pathlib import Path

from farhand.cli.agent_flag import add_agent, settle_agent
from farhand.cli.hire import add_flags, hire, mode_of, options_of
from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id, with_hub
from farhand.model.commands import Hire


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `adopt` takes."""
    add_node(parser)
    add_agent(parser, "the kind of agent")
    parser.add_argument("session", help="the conversation's id, or its beginning; `farhand sessions` lists them")
    parser.add_argument("worker", nargs="?", default="", help="the worker's name (default: after its folder)")
    where = "look in this folder alone (default: in every one)"
    parser.add_argument("--dir", "--directory", "--folder", dest="directory", default="", help=where)
    add_flags(parser)
    parser.add_argument("--anyway", action="store_true", help="although it is still open at the desk")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    settle_agent(arguments, ("session", "worker"))
    command = Hire(
        id=new_id(),
        worker=arguments.worker,
        backend=arguments.backend,
        session=arguments.session,
        directory=str(Path(arguments.directory).absolute()) if arguments.directory else "",
        model=arguments.model,
        effort=arguments.effort,
        mode=mode_of(arguments),
        options=options_of(arguments),
        anyway=arguments.anyway,
    )
    return with_hub(arguments, lambda hub: hire(hub, command))
