"""`farhand answer`: settles a question that waits."""

import argparse

from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id
from farhand.cli.simple import send
from farhand.model.commands import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `answer` takes."""
    add_node(parser)
    parser.add_argument("ask", help="the question's id")
    parser.add_argument("choice", help="one of its choices; several with commas between them, where it takes several")
    parser.add_argument("--note", default="", help="a word of advice for the agent")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    command = Answer(id=new_id(), ask=arguments.ask, choice=arguments.choice, note=arguments.note)
    return send(arguments, command, "{worker} has its answer.")
