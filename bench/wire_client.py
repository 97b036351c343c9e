"""One client of a WebSocket in a process of its own: `bench.wire_client echo|facts ADDRESS KEY ROUNDS`.

It says when it got each frame, or how long each echo took, by the machine's clock: the node's times compare."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from websockets.asyncio.client import ClientConnection, connect

# As long as a stream gathers what follows a frame: both are measured from rest.
PAUSE_SECONDS = 0.02


async def _echo(socket: ClientConnection, rounds: int) -> list[float]:
    took: list[float] = []
    for _ in range(rounds):
        await asyncio.sleep(PAUSE_SECONDS)
        began = time.perf_counter()
        await socket.send("x" * 100)
        await socket.recv()
        took.append(time.perf_counter() - began)
    return took


async def _facts(socket: ClientConnection, rounds: int) -> list[float]:
    await socket.send("{}")
    await socket.recv()
    print("ready", flush=True)
    got: list[float] = []
    while len(got) < rounds:
        frame = await socket.recv()
        if b'"events"' in (frame.encode() if isinstance(frame, str) else frame):
            got.append(time.perf_counter())
    return got


async def _main(what: str, address: str, key: str, rounds: int) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    async with connect(address, additional_headers=headers, proxy=None) as socket:
        print(json.dumps(await (_echo if what == "echo" else _facts)(socket, rounds)), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
