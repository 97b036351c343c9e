"""`farhand devices`: lists the devices that are paired with the node, and revokes one."""

import argparse
import sys
import time

from farhand.channels.kit.device_texts import ago
from farhand.cli.node_flag import add_node
from farhand.cli.options import with_hub
from farhand.client.door import SocketHub
from farhand.model.devices import Device
from farhand.model.wire import encode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `devices` takes."""
    add_node(parser)
    parser.add_argument("action", nargs="?", choices=["revoke"], help="end a device: its connections close at once")
    parser.add_argument("device", nargs="?", default="", help="the id of the device to revoke")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Lists them, or revokes one."""
    if arguments.action and not arguments.device:
        sys.stderr.write("error: Which device? Its id is needed.\n→ farhand devices\n")
        return 2

    async def go(hub: SocketHub) -> list[Device]:
        if arguments.action:
            await hub.revoke(arguments.device)
        return await hub.devices()

    found = with_hub(arguments, go)
    if arguments.json:
        sys.stdout.write(encode(found).decode() + "\n")
    elif arguments.action:
        sys.stdout.write(f"{arguments.device} is revoked.\n")
    else:
        sys.stdout.write(_listed(found) or "No device is paired.\n→ farhand pair\n")
    return 0


def _listed(devices: list[Device]) -> str:
    now = time.time()
    return "".join(
        f"{one.id}  {one.name}{'  (may only look)' if one.read_only else ''}  last seen {ago(now - one.last_seen)}\n"
        for one in devices
    )
