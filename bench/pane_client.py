"""Reads a worker's terminal over HTTP until its standard input ends, and says how many pieces came."""

from __future__ import annotations

import sys

import anyio
import anyio.to_thread
import httpx2


async def read(address: str) -> None:
    """Says `ready` with the first piece, and how many there were in the end."""
    pieces = 0
    headers = {"Authorization": "Bearer bench"}
    timeout = httpx2.Timeout(30, read=None)
    async with (
        anyio.create_task_group() as tasks,
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as client,
        client.stream("GET", address) as response,
    ):

        async def stop() -> None:
            await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop)
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                pieces += 1
                if pieces == 1:
                    print("ready", flush=True)
    print(pieces, flush=True)


if __name__ == "__main__":
    anyio.run(read, sys.argv[1])
