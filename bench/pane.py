"""A worker's terminal, live: what the node spends on a screen that is drawn anew sixty times a second."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from bench.rows import Row
from farhand.core.clock import SystemClock
from farhand.devices.registry import Devices
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.model.present import Worker
from farhand.server import http
from farhand.server.callers import Callers
from farhand.server.pane_routes import pane_routes
from farhand.store.devices import SqliteDevices
from farhand.testing.house import House, open_house

SECONDS = 10.0
FRAMES_A_SECOND = 60
LONGEST_LINE = 100
# As an agent's CLI draws while it works: a spinner, and the last lines of an answer.
DRAWS = r"""
import os, time
number, began = 0, time.monotonic()
while True:
    number += 1
    lines = ''.join('\x1b[%d;1H\x1b[2K line %d of frame %d' % (row + 2, row, number) for row in range(8))
    os.write(1, ('\x1b[1;1H\x1b[36m%s\x1b[0m' % '|/-\\'[number % 4] + lines).encode())
    time.sleep(max(0.0, began + number / 60 - time.monotonic()))
"""


async def measure() -> list[Row]:
    """The figure, measured in this run."""
    if shutil.which("tmux") is None:
        return []
    with tempfile.TemporaryDirectory(prefix="fh-bench-") as name:
        folder = Path(name)
        async with open_house(folder / "house", clock=SystemClock()) as house, _served(house, folder) as address:
            frames, core = await _watched(address)
    return [
        Row(
            f"a terminal that is drawn {FRAMES_A_SECOND} times a second, for one watcher",
            core * 100,
            "% of a core",
            limit=5.0,
            note=f"{frames:.0f} pieces/s arrived",
        )
    ]


@asynccontextmanager
async def _served(house: House, folder: Path) -> AsyncIterator[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    options = TmuxHostOptions(
        node="bench",
        tmux_prefix="bench-",
        folder=folder / "node",
        socket=folder / "hooks",
        interpreter=sys.executable,
        hook_program=folder / "hook.py",
    )
    server = ("tmux", "-S", str(folder / "tmux"))
    try:
        async with Tmux(server, "door", environment).opened() as tmux:
            await house.hire("ann")
            host, worker = TmuxHost(options, tmux), house.worker("ann")
            await host.spawn(_in(worker, folder), [sys.executable, "-IS", "-c", DRAWS], {})
            devices = Devices(SqliteDevices(house.node.journal._database), house.clock)
            routes = pane_routes(house.hub, Callers("bench", devices), {worker.kind: host.panes}, house.clock)
            listener = http.bind("127.0.0.1", 0)
            async with anyio.create_task_group() as tasks:
                await tasks.start(http.serve, http.application(routes), listener)
                yield f"http://127.0.0.1:{listener.getsockname()[1]}/api/workers/ann/pane"
                tasks.cancel_scope.cancel()
            listener.close()
    finally:
        subprocess.run([*server, "kill-server"], check=False, capture_output=True)


def _in(worker: Worker, folder: Path) -> Worker:
    return Worker(name=worker.name, since=worker.since, backend=worker.backend, directory=str(folder))


async def _watched(address: str) -> tuple[float, float]:
    """How many pieces came a second, and what this process spent; whoever reads them is another one."""
    command = [sys.executable, "-m", "bench.pane_client", address]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as reader:
        assert reader.stdout is not None
        assert reader.stdin is not None
        # A line may come in pieces.
        lines = BufferedByteReceiveStream(reader.stdout)
        assert await lines.receive_until(b"\n", LONGEST_LINE) == b"ready"
        began, busy = time.perf_counter(), time.process_time()
        await anyio.sleep(SECONDS)
        took = time.perf_counter() - began
        core = (time.process_time() - busy) / took
        await reader.stdin.aclose()
        return int(await lines.receive_until(b"\n", LONGEST_LINE)) / took, core
