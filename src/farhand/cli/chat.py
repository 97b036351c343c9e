"""`farhand chat`: a plain conversation with the team in this terminal."""

import argparse
import os

from farhand.cli.conversation import TerminalConversation
from farhand.cli.far_hub import AnyHub, add_url, with_any_hub
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.cli.options import me
from farhand.cli.terminal import open_terminal
from farhand.cli.typed_lines import TypedLines
from farhand.cli.while_away import ChatPlace
from farhand.config.places import node_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `chat` takes."""
    add_node(parser)
    add_url(parser)


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves."""

    async def talk(hub: AnyHub) -> int:
        # Of a conversation with a node elsewhere nothing is kept here.
        folder = None if arguments.url else node_folder(choose(arguments), os.environ)
        place = ChatPlace(folder) if folder else None
        with open_terminal(os.environ, TypedLines(folder) if folder else None) as terminal:
            await TerminalConversation(hub, terminal, who=me().who, place=place, status=hub.status).run()
        return 0

    return with_any_hub(arguments, talk)
