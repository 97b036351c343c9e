"""A node's hub, on this machine or at an address elsewhere: `--url`, with the key of the node or of a device."""

import argparse
import ipaddress
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import urlsplit

import anyio

from farhand.cli.node_flag import NODE_KEY_VARIABLE
from farhand.cli.options import open_hub
from farhand.config.taken_secrets import take_secrets
from farhand.model.errors import BadUsage

if TYPE_CHECKING:
    from farhand.client.door import SocketHub
    from farhand.client.http import HttpHub

T = TypeVar("T")
AnyHub: TypeAlias = "SocketHub | HttpHub"
DEVICE_KEY = "farhand pair on that node's machine makes a code, and the code a key: docs/how-to/devices.md"


def add_url(parser: argparse.ArgumentParser) -> None:
    """`--url` for a command that may speak to a node elsewhere."""
    parser.add_argument("--url", help=f"a node elsewhere, with its key or a device's in {NODE_KEY_VARIABLE}")


@asynccontextmanager
async def open_any_hub(arguments: argparse.Namespace, key: str = "") -> AsyncIterator[AnyHub]:
    """The hub that is meant. The key is taken out of the environment, unless it was before."""
    if not arguments.url:
        async with open_hub(arguments) as hub:
            yield hub
        return
    from farhand.client.http import HttpHub

    key = key or take_secrets(os.environ, (NODE_KEY_VARIABLE,)).get(NODE_KEY_VARIABLE, "")
    if not key:
        raise BadUsage(f"{NODE_KEY_VARIABLE} must have the key of that node, or of a device.", hints=(DEVICE_KEY,))
    address = checked_address(arguments.url)
    if is_open(address):
        sys.stderr.write(f"⚠ {address} is not encrypted: whoever is on the way reads the key.\n")
    async with HttpHub(address, key) as far:
        yield far


def with_any_hub(arguments: argparse.Namespace, work: Callable[[AnyHub], Awaitable[T]]) -> T:
    """Runs the work with the hub that is meant."""

    async def go() -> T:
        async with open_any_hub(arguments) as hub:
            return await work(hub)

    return anyio.run(go)


def checked_address(url: str) -> str:
    """The address of a node, or BadUsage."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise BadUsage(f"--url is an address like https://node.example, not '{url[:80]}'.")
    return url.rstrip("/")


def is_open(address: str) -> bool:
    """Whether a key goes over a network as plain text."""
    parts = urlsplit(address)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return False
    try:
        return not ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return True
