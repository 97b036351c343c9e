"""`farhand digest`: what happened while nobody was there, five lines at most, each with the place where it is shown."""

import argparse
import sys

from farhand.cli.app_link import outside
from farhand.cli.node_flag import add_node
from farhand.cli.options import with_hub
from farhand.client.door import SocketHub
from farhand.model.digest import digest_text, leads_to


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `digest` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Shows it; the app on this machine is there without a way in."""

    async def go(hub: SocketHub) -> str:
        status = await hub.status()
        origin = outside(status) or f"http://127.0.0.1:{status['port']}"
        return digest_text(await hub.digest(), leads_to(origin))

    sys.stdout.write(with_hub(arguments, go) + "\n")
    return 0
