"""`farhand quiet`: shows or changes what may buzz, and when; the same words as behind `/quiet`."""

import argparse
import sys
import time

from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id, with_hub
from farhand.client.door import SocketHub
from farhand.model import quiet
from farhand.model.commands import SetAttention
from farhand.model.slash_argument import find_worker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `quiet` takes."""
    add_node(parser)
    parser.add_argument("what", nargs="*", help="2h, until 8:00, 22:00-7:00, off, ann off, finished off, show name, …")


def run(arguments: argparse.Namespace) -> int:
    """Shows or changes it."""

    async def go(hub: SocketHub) -> str:
        present = await hub.look()
        settings = present.attention
        if arguments.what:
            settings = quiet.changed(settings, arguments.what, lambda name: find_worker(name, present), time.time())
            await hub.send(SetAttention(id=new_id(), settings=settings), me())
        return quiet.settings_words(settings, time.time())

    sys.stdout.write(with_hub(arguments, go) + "\n")
    return 0
