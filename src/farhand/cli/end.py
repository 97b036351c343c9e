"""`farhand end`: lets a worker go."""

import argparse

from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id
from farhand.cli.simple import send
from farhand.model.commands import End


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `end` takes."""
    add_node(parser)
    parser.add_argument("worker", help="the worker's name")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    return send(arguments, End(id=new_id(), worker=arguments.worker), "{worker} leaves the team.")
