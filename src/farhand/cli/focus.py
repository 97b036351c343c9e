"""`farhand focus`: chooses who gets what is said without a name."""

import argparse

from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id
from farhand.cli.simple import send
from farhand.model.commands import Focus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `focus` takes."""
    add_node(parser)
    parser.add_argument("worker", help="the worker's name")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    return send(arguments, Focus(id=new_id(), worker=arguments.worker), "Now talking to {worker}.")
