"""`farhand pair`: a one-time code with which a phone, a browser or a program is paired with the node."""

import argparse
import sys
from typing import Any

from farhand.cli.app_link import links
from farhand.cli.node_flag import add_node
from farhand.cli.options import with_hub
from farhand.client.door import SocketHub

HALF = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `pair` takes."""
    add_node(parser)
    parser.add_argument("--read-only", action="store_true", help="the device may look, and change nothing")


def run(arguments: argparse.Namespace) -> int:
    """Asks the node for a code and shows it, with the links that open the app and send it."""

    async def go(hub: SocketHub) -> tuple[str, dict[str, Any]]:
        return (await hub.pair(read_only=arguments.read_only)).code, await hub.status()

    code, status = with_hub(arguments, go)
    what = "may look, and change nothing" if arguments.read_only else "may do what you may do"
    shown = "".join(f"{line}\n" for line in links(status, code))
    sys.stdout.write(
        f"Code: {code[:HALF]}-{code[HALF:]}\n"
        f"It pairs one device within two minutes; the device {what}.\n"
        f"{shown}"
        "→ farhand devices lists those that are paired, farhand devices revoke ID ends one.\n"
    )
    return 0
