"""`farhand tune`: changes a worker's mode, model or effort."""

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
    parser.add_argument("--effort", help="how hard it thinks, in its agent's own words: low, medium, high…")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    mode = Mode(arguments.mode) if arguments.mode else None
    chosen = {"model": arguments.model, "mode": mode, "effort": arguments.effort}
    command = Tune(id=new_id(), worker=arguments.worker, **chosen)
    return send(arguments, command, "{worker} is asked to change.")
