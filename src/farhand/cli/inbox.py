"""`farhand inbox`: everything that waits for the person, over all workers, the oldest question first."""

import argparse
import sys

from farhand.channels.kit import overview
from farhand.cli.node_flag import add_node
from farhand.cli.options import with_hub
from farhand.client.door import SocketHub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `inbox` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Shows it."""

    async def go(hub: SocketHub) -> str:
        return overview.inbox(await hub.look(), in_shell=True)

    sys.stdout.write(with_hub(arguments, go) + "\n")
    return 0
