"""The live wire: how soon a fact is at a device beside a bare echo, and what many devices cost the node."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bench.rows import Row
from bench.timing import median
from bench.wire_client import PAUSE_SECONDS
from farhand.core.clock import SystemClock
from farhand.model.facts import Draft, Thought
from farhand.model.stream import HEARTBEAT_SECONDS
from farhand.server import http
from farhand.testing.house import House, open_house

ROUNDS = 300
DEVICES, WORKERS, PIECES_A_SECOND, SECONDS = 50, 20, 20, 10.0
# Two heartbeats of every device are in it.
IDLE_DEVICES, IDLE_SECONDS = 20, 2 * HEARTBEAT_SECONDS + 1


async def measure() -> list[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as folder:
        async with open_house(Path(folder), clock=SystemClock()) as house:
            names = [f"worker-{number}" for number in range(WORKERS)]
            for name in names:
                await house.hire(name)
            echo, fact = await _echo(), await _fact(house)
            return [
                Row(
                    "fact → frame at a device, beside an echo over such a socket",
                    fact / echo,
                    "times",
                    limit=3.0,
                    note=f"{fact * 1e3:.2f} ms beside {echo * 1e3:.2f} ms",
                ),
                *await _many(house, names),
                await _idle(house),
            ]


async def _echo() -> float:
    """What a frame takes there and back, to a client in a process of its own."""

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                await socket.send_text(await socket.receive_text())
        except WebSocketDisconnect:
            return

    listener = http.bind("127.0.0.1", 0)
    address = f"ws://127.0.0.1:{listener.getsockname()[1]}/"
    app = http.application([WebSocketRoute("/", talk)])

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await http.serve(app, listener, task_status=task_status)

    async with anyio.create_task_group() as tasks:
        await tasks.start(serve)
        async with _client("echo", address, "none") as told:
            took: list[float] = json.loads(await told.receive_until(b"\n", 100_000))
        tasks.cancel_scope.cancel()
    listener.close()
    return median(took)


async def _fact(house: House) -> float:
    """From a fact that is written down to its frame at such a client; a lone fact waits for no others."""
    address = f"ws://127.0.0.1:{house.node.port}/api/hub/socket"
    written: list[float] = []
    async with _client("facts", address, house.node.settings.key.read_text()) as told:
        assert await told.receive_until(b"\n", 100) == b"ready"
        house.hub.listen(lambda _: written.append(time.perf_counter()))
        for _ in range(ROUNDS):
            # The node gathers what follows a frame within 16 ms: that is no delay of a lone fact.
            await anyio.sleep(PAUSE_SECONDS)
            await _think(house, "worker-0")
        got: list[float] = json.loads(await told.receive_until(b"\n", 100_000))
    return median([came - began for began, came in zip(written, got, strict=True)])


@asynccontextmanager
async def _client(what: str, address: str, key: str) -> AsyncIterator[BufferedByteReceiveStream]:
    """A client in another process, and what it tells."""
    command = [sys.executable, "-m", "bench.wire_client", what, address, key, str(ROUNDS)]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield BufferedByteReceiveStream(process.stdout)


async def _think(house: House, worker: str) -> None:
    await house.hub.record(worker, lambda _: [Draft(worker=worker, fact=Thought(text="piece "))])


@asynccontextmanager
async def _devices(house: House, count: int) -> AsyncIterator[dict[str, Any]]:
    """That many devices in another process; afterwards what they saw."""
    command = [sys.executable, "-m", "bench.wire_clients", str(house.node.port)]
    command += [house.node.settings.key.read_text(), str(count)]
    seen: dict[str, Any] = {}
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        told = BufferedByteReceiveStream(process.stdout)
        assert await told.receive_until(b"\n", 100) == b"ready"
        yield seen
        await process.stdin.aclose()
        seen |= json.loads(await told.receive_until(b"\n", 1000))


async def _stream(house: House, worker: str) -> None:
    """An agent that speaks at its pace, however long each piece takes to be written down."""
    began = time.perf_counter()
    for number in range(int(SECONDS * PIECES_A_SECOND)):
        await anyio.sleep(max(0.0, began + number / PIECES_A_SECOND - time.perf_counter()))
        await _think(house, worker)


async def _many(house: House, names: list[str]) -> list[Row]:
    async with _devices(house, DEVICES) as seen:
        began, busy = time.perf_counter(), time.process_time()
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(_stream, house, name)
        core = (time.process_time() - busy) / (time.perf_counter() - began)
        # The last frames are on their way.
        await anyio.sleep(1.0)
    about = f"{DEVICES} devices, {WORKERS} workers"
    return [
        Row(
            f"{about}: p99 from the fact to a device", seen["p99"] * 1e3, "ms", limit=250.0, note=f"{seen['events']:,}"
        ),
        Row(f"{about} at {PIECES_A_SECOND} pieces/s each", core * 100, "% of a core", limit=100.0),
    ]


async def _idle(house: House) -> Row:
    async with _devices(house, IDLE_DEVICES):
        await anyio.sleep(1.0)
        began, busy = time.perf_counter(), time.process_time()
        await anyio.sleep(IDLE_SECONDS)
        core = (time.process_time() - busy) / (time.perf_counter() - began)
    return Row(f"{IDLE_DEVICES} devices, nothing happens", core * 100, "% of a core", limit=0.5)
