"""`farhand chat`: a plain conversation with the team in this terminal."""

import argparse
import sys

from farhand.cli.conversation import Conversation, Terminal
from farhand.cli.options import add_node, with_hub
from farhand.client.door import SocketHub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `chat` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves."""

    async def talk(hub: SocketHub) -> int:
        await Conversation(hub, Terminal(sys.stdin, sys.stdout)).run()
        return 0

    return with_hub(arguments, talk)
