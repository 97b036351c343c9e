"""Serves an application on loopback inside a test, on connections that it can cut."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol


class CuttableProtocol(H11Protocol):
    """HTTP whose connection the application can cut, as a network does (`request.state.transport.abort()`)."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


class CuttableServer(uvicorn.Server):
    """A server that leaves the signals of its process alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, *, port: int = 0) -> AsyncIterator[str]:
    """The address at which the application answers while the block lasts."""
    # Named as TCP, for otherwise asyncio leaves Nagle on and every answer is 40 ms late.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    config = uvicorn.Config(
        app,
        http=CuttableProtocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        timeout_keep_alive=300,
        timeout_graceful_shutdown=1,
    )
    server = CuttableServer(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
