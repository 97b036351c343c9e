"""`farhand chat`: a plain conversation with the team in this terminal."""

import argparse
import os

from farhand.cli.conversation import TerminalConversation
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.cli.options import me, with_hub
from farhand.cli.terminal import open_terminal
from farhand.cli.while_away import ChatPlace
from farhand.client.door import SocketHub
from farhand.config.places import node_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `chat` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves."""

    async def talk(hub: SocketHub) -> int:
        with open_terminal(os.environ) as terminal:
            place = ChatPlace(node_folder(choose(arguments), os.environ))
            await TerminalConversation(hub, terminal, who=me().who, place=place).run()
        return 0

    return with_hub(arguments, talk)
