"""Commands that send one command and tell what came of it."""

import argparse
import sys

from farhand.cli.options import me, with_hub
from farhand.client.door import SocketHub
from farhand.model.commands import Command


def send(arguments: argparse.Namespace, command: Command, done: str) -> int:
    """Sends it to the node that is meant; `done` may name the worker as {worker}."""

    async def go(hub: SocketHub) -> str:
        return (await hub.send(command, me())).worker

    worker = with_hub(arguments, go)
    sys.stdout.write(done.format(worker=worker) + "\n")
    return 0
