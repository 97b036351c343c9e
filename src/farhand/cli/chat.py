"""`farhand chat`: a plain conversation with the team in this terminal."""

import argparse
import os

from farhand.cli.conversation import TerminalConversation
from farhand.cli.node_flag import add_node
from farhand.cli.options import me, with_hub
from farhand.cli.terminal import open_terminal
from farhand.client.door import SocketHub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `chat` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves."""

    async def talk(hub: SocketHub) -> int:
        with open_terminal(colours="NO_COLOR" not in os.environ) as terminal:
            await TerminalConversation(hub, terminal, who=me().who).run()
        return 0

    return with_hub(arguments, talk)
