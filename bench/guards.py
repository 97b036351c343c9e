"""What the guards of the HTTP listener cost: the same route with all of them and with none, in turns in one run."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from bench.rows import Row, beside
from bench.timing import median
from farhand.server import http
from farhand.server.connections import ConnectionLimits, GuardedProtocol
from farhand.server.local import CONNECTION, RouteGuard, closed

ROUNDS = 3000
REQUEST = b"GET /workers HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"


async def workers(_: Request) -> Response:
    """A short answer, as the routes of this machine give it."""
    return JSONResponse({"workers": []})


async def listen(*, guarded: bool) -> asyncio.Server:
    """The route behind all guards, or behind none."""
    routes = [Route("/workers", workers)]
    app = http.application(closed(routes, RouteGuard("the key")) if guarded else list(routes))
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", server_header=False)
    config.load()
    state, limits = ServerState(), ConnectionLimits()

    def protocol() -> asyncio.Protocol:
        if guarded:
            return GuardedProtocol(limits, config=config, server_state=state, app_state={CONNECTION: {}})
        return H11Protocol(config=config, server_state=state, app_state={})

    return await asyncio.get_running_loop().create_server(protocol, sock=http.bind("127.0.0.1", 0))


async def connected(server: asyncio.Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return reader, writer


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    """One request and its whole answer, in seconds."""
    began = time.perf_counter()
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    await reader.readexactly(len(b'{"workers":[]}'))
    return time.perf_counter() - began


async def measure() -> list[Row]:
    """A request over a connection that is open, and one with its own connection."""
    servers = [await listen(guarded=False), await listen(guarded=True)]
    kept: list[list[float]] = [[], []]
    fresh: list[list[float]] = [[], []]
    links = [await connected(server) for server in servers]
    for _ in range(ROUNDS):
        for place, link in enumerate(links):
            kept[place].append(await asked(*link))
    for _ in range(ROUNDS // 3):
        for place, server in enumerate(servers):
            began = time.perf_counter()
            reader, writer = await connected(server)
            await asked(reader, writer)
            fresh[place].append(time.perf_counter() - began)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    for _, writer in links:
        writer.close()
    for server in servers:
        server.close()
    return [_row("a request of this machine", kept, 1.05), _row("the same over a connection of its own", fresh, None)]


def _row(name: str, times: list[list[float]], limit: float | None) -> Row:
    bare, guarded = (median(one) * 1e6 for one in times)
    return beside(f"http: {name}, with its guards", guarded, "µs", "without", bare, limit)
