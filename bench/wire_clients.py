"""Devices on the live wire in a process of their own, until its input ends: `bench.wire_clients PORT KEY COUNT`."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import msgspec
from websockets.asyncio.client import connect


class _Event(msgspec.Struct):
    at: float


class _Frame(msgspec.Struct):
    events: tuple[_Event, ...] = ()


async def _follow(port: int, key: str, ready: list[int], lags: list[float]) -> None:
    decoder = msgspec.json.Decoder(_Frame)
    headers = {"Authorization": f"Bearer {key}"}
    address = f"ws://127.0.0.1:{port}/api/hub/socket"
    async with connect(address, additional_headers=headers, proxy=None, max_size=None) as socket:
        await socket.send("{}")
        await socket.recv()
        ready.append(1)
        async for frame in socket:
            now = time.time()
            lags += [now - event.at for event in decoder.decode(frame).events]


async def _main(port: int, key: str, count: int) -> None:
    ready: list[int] = []
    lags: list[float] = []
    devices = [asyncio.ensure_future(_follow(port, key, ready, lags)) for _ in range(count)]
    while len(ready) < count:
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for device in devices:
        device.cancel()
    lags.sort()
    print(json.dumps({"events": len(lags), "p99": lags[int(len(lags) * 0.99)] if lags else 0.0}))


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
