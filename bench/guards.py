"""What the guards of the HTTP listener cost: the same route with all of them and with none, in turns in one run."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.routing import BaseRoute
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from bench.rows import Row, beside
from bench.timing import median
from farhand.channels.files.channel import FilesChannel
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.server import http
from farhand.server.acceptor import Acceptor
from farhand.server.connections import ConnectionLimits, GuardedProtocol
from farhand.server.local import CONNECTION, RouteGuard, closed
from farhand.testing.house import open_house

ROUNDS = 3000
WORKERS = 5
REQUEST = b"GET /workers HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"


@asynccontextmanager
async def listen(routes: Sequence[BaseRoute], *, guarded: bool) -> AsyncIterator[int]:
    """The port of the routes behind all guards, or behind none."""
    app = http.application(closed(routes, RouteGuard("the key")) if guarded else list(routes))
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", server_header=False)
    config.load()
    state, limits = ServerState(), ConnectionLimits()
    listener = http.bind("127.0.0.1", 0)

    def protocol(address: str, received: bytes) -> GuardedProtocol:
        own: dict[str, Any] = {CONNECTION: {}}
        return GuardedProtocol(limits, address, received, config=config, server_state=state, app_state=own)

    def bare() -> asyncio.Protocol:
        return H11Protocol(config=config, server_state=state, app_state={})

    server: Acceptor | asyncio.Server
    if guarded:
        server = Acceptor(listener, limits, protocol)
        server.open()
    else:
        server = await asyncio.get_running_loop().create_server(bare, sock=listener)
    try:
        yield listener.getsockname()[1]
    finally:
        server.close()


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to that port."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return reader, writer


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    """One request and its whole answer, in seconds."""
    began = time.perf_counter()
    writer.write(REQUEST)
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    assert head.startswith("http/1.1 200"), head
    await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
    return time.perf_counter() - began


async def measure() -> list[Row]:
    """`GET /workers` of a node with a few workers."""

    def channels(context: ChannelContext) -> list[Channel]:
        return [FilesChannel(context)]

    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        async with open_house(Path(name), None, SystemClock(), channels) as house:
            for number in range(WORKERS):
                await house.hire(f"w{number}")
            files = next(one for one in house.node.channels if isinstance(one, FilesChannel))
            routes = files.local_routes()
            async with listen(routes, guarded=False) as without, listen(routes, guarded=True) as with_guards:
                ports = [without, with_guards]
                return [
                    _row("a request of this machine", await kept_open(ports), 1.05),
                    _row("the same over a connection of its own", await each_its_own(ports), None),
                ]


async def kept_open(ports: list[int]) -> list[list[float]]:
    """Requests over one connection to each, in turns."""
    times: list[list[float]] = [[], []]
    links = [await connected(port) for port in ports]
    for _ in range(ROUNDS):
        for place, link in enumerate(links):
            times[place].append(await asked(*link))
    for _, writer in links:
        writer.close()
    return times


async def each_its_own(ports: list[int]) -> list[list[float]]:
    """Requests that each open a connection, in turns."""
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS // 3):
        for place, port in enumerate(ports):
            began = time.perf_counter()
            reader, writer = await connected(port)
            await asked(reader, writer)
            times[place].append(time.perf_counter() - began)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    return times


def _row(name: str, times: list[list[float]], limit: float | None) -> Row:
    bare, guarded = (median(one) * 1e6 for one in times)
    return beside(f"http: {name}, with its guards", guarded, "µs", "without", bare, limit)
