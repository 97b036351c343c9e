"""Runs a small ASGI app on a loopback port that the system chooses, inside the test's own event loop."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def served(app: ASGIApp, port: int = 0) -> AsyncIterator[str]:
    """The address of the app while it is served."""
    listener = socket.create_server(("127.0.0.1", port))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(app, log_level="error", lifespan="off", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with listener:
        async with anyio.create_task_group() as tasks:
            # The low-level call: `serve` would take the test runner's signal handlers.
            tasks.start_soon(server._serve, [listener])
            try:
                yield address
            finally:
                server.should_exit = True
