"""A listener that ends at whatever moment of a request leaves no connection open and no place taken."""

import asyncio
import gc
import socket
import warnings
from functools import partial

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from farhand.server import http
from farhand.server.connections import ConnectionLimits
from farhand.testing.clock import SAFETY_SECONDS

pytestmark = pytest.mark.anyio
# A request is accepted, read, answered and over within half as many turns of the event loop.
TURNS = 24


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def ended_after(turns: int, limits: ConnectionLimits) -> bytes:
    """What a client gets to its end of a listener that is ended so many turns of the event loop after its request."""
    listener, app = http.bind("127.0.0.1", 0), http.application([Route("/", length, methods=["POST"])])
    with socket.create_connection(listener.getsockname()) as client:
        client.setblocking(False)
        async with anyio.create_task_group() as tasks:
            await tasks.start(partial(http.serve, limits=limits), app, listener)
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
            for _ in range(turns):
                await asyncio.sleep(0)
            tasks.cancel_scope.cancel()
        received = b""
        with anyio.fail_after(SAFETY_SECONDS):
            try:
                while data := await asyncio.get_running_loop().sock_recv(client, 4096):
                    received += data
            except ConnectionResetError:
                pass
    return received


async def test_a_listener_that_ends_in_the_middle_of_a_request_leaves_nothing_open() -> None:
    answered = set()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        for turns in range(TURNS):
            limits = ConnectionLimits()
            answered.add((await ended_after(turns, limits)).partition(b"\r\n")[0])
            gc.collect()
            assert (limits.count, [str(one.message) for one in seen]) == (0, []), f"ended after {turns} turns"
    # From before it was accepted to after it was answered.
    assert answered >= {b"", b"HTTP/1.1 200 OK"}
