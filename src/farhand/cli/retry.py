"""`farhand retry`: says again what failed, or goes on although a usage limit may still hold."""

import argparse

from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id
from farhand.cli.simple import send
from farhand.model.commands import Retry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `retry` takes."""
    add_node(parser)
    parser.add_argument("worker", nargs="?", default="", help="the worker's name (default: the focused one)")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    return send(arguments, Retry(id=new_id(), worker=arguments.worker), "{worker} tries again.")
