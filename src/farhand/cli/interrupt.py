"""`farhand interrupt`: stops a worker's turn, and takes back what waits."""

import argparse
import sys

from farhand.channels.kit.queue_texts import stopped
from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id, with_hub
from farhand.client.door import SocketHub
from farhand.model.commands import Interrupt
from farhand.model.visible import for_terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `interrupt` takes."""
    add_node(parser)
    parser.add_argument("worker", nargs="?", default="", help="the worker's name (default: the focused one)")


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""

    async def go(hub: SocketHub) -> str:
        before = await hub.look()
        worker = (await hub.send(Interrupt(id=new_id(), worker=arguments.worker, withdraw=True), me())).worker
        return stopped(before.workers.get(worker), worker, withdraw=True)

    sys.stdout.write(f"{for_terminal(with_hub(arguments, go))}\n")
    return 0
