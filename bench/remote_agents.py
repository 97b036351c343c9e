"""Remote control of real agents' own terminals: their words and the ends of their turns, outside."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import msgspec

from bench.rows import Row
from bench.timing import median
from farhand.testing.leftovers import end_new, nothing_new_runs, processes_of
from farhand.testing.ports import lasting_port
from farhand.testing.remote_targets import RemoteTarget, open_target
from farhand.testing.tmux import Screen, terminal

ROUNDS = 12
SAFETY_SECONDS = 120.0
ROOT = Path(__file__).resolve().parents[1]
os.environ["PATH"] = f"{ROOT / '.cache/node/bin'}:{os.environ['PATH']}"


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    for name in ("tui", "claude", "codex", "gemini", "opencode"):
        yield from asyncio.run(_talk(name))


@asynccontextmanager
async def desk(name: str, variables: Mapping[str, str]) -> AsyncIterator[tuple[RemoteTarget, Screen]]:
    """A shell in the target's project."""
    with tempfile.TemporaryDirectory(prefix="fh", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        async with open_target(name, folder, server, ROOT) as target:
            environment, before = {**target.environment(folder), **variables}, processes_of(folder)
            try:
                with terminal(folder, environment, columns=110, rows=40) as screen:
                    await anyio.to_thread.run_sync(screen.wait, lambda shown: "$" in shown, "the shell")
                    await anyio.to_thread.run_sync(screen.type, f"clear; cd {target.cli_env.project}")
                    yield target, screen
                await nothing_new_runs(folder, before)
            finally:
                # Also when it broke off.
                end_new(folder, before)
            await target.cli_env.tidy()


async def _talk(name: str) -> list[Row]:
    """How soon a word of the model and the end of its turn are told outside, the agent's own time included."""
    port = lasting_port()
    words, ends = [], []
    async with desk(name, {"GEMINI_CLI_REMOTE_PORT": str(port)}) as (target, screen):
        await anyio.to_thread.run_sync(screen.type, target.command)
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=None) as outside:
            await _ready(outside)
            async with outside.stream("GET", "/events") as response:
                told = _told(response)
                for number in range(ROUNDS):
                    marker = f"zz-{number:02d}"
                    release = target.script.holds(marker, f"begin{number:02d}", f" done{number:02d}.")
                    await outside.post("/message", json={"message": marker})
                    await target.script.began(marker)
                    release()
                    began = time.perf_counter()
                    words.append(await _until(told, f"done{number:02d}.") - began)
                    ends.append(await _until(told, '"status":"stable"') - began)
    note = "from the model's last word on: the agent's own time is in it"
    whose, limit = ("our app", 30.0) if name == "tui" else (name, 150.0)
    return [
        Row(f"agent's last word → SSE event, {whose}, p50", median(words) * 1e3, "ms", limit=limit, note=note),
        Row(f"agent's last word → end of the turn, {whose}, p50", median(ends) * 1e3, "ms", limit=200.0, note=note),
    ]


async def _ready(outside: httpx2.AsyncClient) -> None:
    with anyio.fail_after(SAFETY_SECONDS):
        while True:
            try:
                # It answers before its screen is there, and takes nothing until then.
                if (await outside.get("/status")).json().get("ready"):
                    return
            except (httpx2.HTTPError, ValueError):
                pass
            await anyio.sleep(0.05)


async def _told(response: httpx2.Response) -> AsyncIterator[tuple[float, str]]:
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield time.perf_counter(), msgspec.json.encode(msgspec.json.decode(line.removeprefix("data: "))).decode()


async def _until(told: AsyncIterator[tuple[float, str]], text: str) -> float:
    with anyio.fail_after(SAFETY_SECONDS):
        async for at, data in told:
            if text in data and '"screen"' not in data:
                return at
    raise RuntimeError(f"{text} never came")
