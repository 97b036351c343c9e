"""`farhand tune`: changes a worker's mode or model."""

import argparse

from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id
from farhand.cli.simple import send
from farhand.model.commands import Tune
from farhand.model.words import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tune` takes."""
    add_node(parser)
    parser.add_argument("worker", nargs="?", default="", help="whom (default: the focused one)")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what it may do unasked")
    parser.add_argument("--model", help="the model that it goes on with")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    mode = Mode(arguments.mode) if arguments.mode else None
    command = Tune(id=new_id(), worker=arguments.worker, model=arguments.model, mode=mode)
    return send(arguments, command, "{worker} is asked to change.")
