"""`farhand hire`: takes a worker on."""

import argparse
from pathlib import Path

from farhand.cli.options import add_node, new_id
from farhand.cli.simple import send
from farhand.model.commands import Hire
from farhand.model.words import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `hire` takes."""
    add_node(parser)
    parser.add_argument("worker", help="the worker's name: letters, digits and hyphens")
    parser.add_argument("--backend", default="demo", help="the kind of agent (default: demo)")
    parser.add_argument("--directory", default="", help="where it works (default: here)")
    parser.add_argument("--model", default="", help="the model it starts with")
    parser.add_argument(
        "--mode", default="default", choices=[mode.value for mode in Mode], help="what it may do unasked"
    )


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    command = Hire(
        id=new_id(),
        worker=arguments.worker,
        backend=arguments.backend,
        directory=str(Path(arguments.directory).absolute()),
        model=arguments.model,
        mode=Mode(arguments.mode),
    )
    return send(arguments, command, "{worker} is hired.")
