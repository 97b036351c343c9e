"""`farhand handback`: ends a worker and prints the command that goes on with its conversation here."""

import argparse
import sys

from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id, with_hub
from farhand.client.door import SocketHub
from farhand.model.commands import End
from farhand.model.facts import Ended


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `handback` takes."""
    add_node(parser)
    parser.add_argument("worker", help="the worker's name")


def run(arguments: argparse.Namespace) -> int:
    """Waits until the agent is gone, for two must not speak in one conversation; then prints the command."""
    sys.stdout.write(with_hub(arguments, lambda hub: _handed_back(hub, arguments.worker)) + "\n")
    return 0


async def _handed_back(hub: SocketHub, name: str) -> str:
    after = (await hub.look()).seq
    accepted = await hub.send(End(id=new_id(), worker=name, hand_back=True), me())
    async for event in hub.watch(after=after):
        if isinstance(event.fact, Ended) and event.worker in (accepted.worker, name):
            return event.fact.resume or f"{event.worker} had been let go already."
    return ""
