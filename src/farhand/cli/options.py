"""Flags that several commands share, and the hub that they lead to."""

import argparse
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

from farhand.cli.node_choice import choose
from farhand.client.door import SocketHub
from farhand.config.places import node_folder
from farhand.model.errors import NodeNotRunning
from farhand.model.words import Sender

T = TypeVar("T")


@asynccontextmanager
async def open_hub(arguments: argparse.Namespace) -> AsyncIterator[SocketHub]:
    """The hub of the node that is meant."""
    name = choose(arguments)
    try:
        async with SocketHub(node_folder(name, os.environ) / "hub.sock") as hub:
            yield hub
    except NodeNotRunning:
        raise NodeNotRunning(f"Node '{name}' is not running.", hints=(f"farhand run --node {name}",)) from None


def with_hub(arguments: argparse.Namespace, work: Callable[[SocketHub], Awaitable[T]]) -> T:
    """Runs the work with the hub of the node that is meant."""

    async def go() -> T:
        async with open_hub(arguments) as hub:
            return await work(hub)

    return anyio.run(go)


def new_id() -> str:
    """An id that nobody else chooses."""
    return uuid.uuid4().hex


def me(via: str = "cli") -> Sender:
    """The person at this terminal."""
    return Sender(via=via, who=os.environ.get("USER", ""))
