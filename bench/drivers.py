"""The drivers' figures: what a turn costs beside the bare executable, and how fast recordings are translated."""

from __future__ import annotations

import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from bench.rows import Row
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.model.facts import TurnEnded
from farhand.model.ports import Deliver, Driver, Link
from farhand.model.present import Message, Worker
from farhand.model.words import HowEnded, Sender
from farhand.roster import build_drivers, drivers_by_kind
from farhand.sandbox.holders import LocalHolders
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.opencode_env import OpenCodeEnv

ROOT = Path(__file__).resolve().parents[1]
PURE = ROOT / "tests" / "pure"
PROGRAMS = ROOT / ".cache/npm/node_modules/.bin"
ROUNDS = 25
REAL_ROUNDS = 3
BYTES = 100 * 1024 * 1024
MEGABYTE = 1024 * 1024
# Says what a recording says to every message, as an agent does that lives between its turns.
REPLAY_LINES = """#!{python} -SI
import sys
recording = open({recording!r}, "rb").read()
for line in iter(sys.stdin.buffer.readline, b""):
    if b'"type":"user"' in line:
        sys.stdout.buffer.write(recording)
        sys.stdout.buffer.flush()
"""
# Says it once and ends, as an agent does that is run for every turn.
REPLAY_ONCE = """#!/bin/sh
exec cat '{recording}'
"""
REPLAYED = {
    "claude/headless": ("claude", REPLAY_LINES, "claude/recordings/p-tool-ls.out"),
    "opencode/exec": ("opencode", REPLAY_ONCE, "opencode/recordings/run-tool.out"),
    "codex/exec": ("codex", REPLAY_ONCE, "codex/recordings/exec-tool-yolo.out"),
    "gemini/exec": ("gemini", REPLAY_ONCE, "gemini/recordings/p-stream.out"),
}


def rows() -> Iterator[Row]:
    """Every figure, as it comes."""
    yield from anyio.run(turns)
    yield from translation()


# --- a turn


async def turns() -> list[Row]:
    """A headless turn over an executable that replays a recording, beside that executable alone."""
    found: list[Row] = []
    for kind, (program, script, recording) in REPLAYED.items():
        if not (PURE / recording).exists():
            continue
        with tempfile.TemporaryDirectory(prefix="fh") as folder:
            executable = replay(Path(folder), program, script, PURE / recording)
            environment = {"HOME": folder, "PATH": f"{Path(folder) / 'bin'}:{os.environ['PATH']}"}
            ours = await driven(Path(folder), kind, environment)
            once = script is REPLAY_ONCE
            floor = [bare_run(executable) for _ in range(ROUNDS)] if once else bare_lines(executable)
            found.append(added(kind, ours, floor))
    return [*found, *await real()]


async def real() -> list[Row]:
    """The same with a real CLI against a fake model, shown beside it and not gated."""
    if not (PROGRAMS / "opencode").exists():
        return []
    with tempfile.TemporaryDirectory(prefix="fh") as folder:
        model = FakeOpenAi()
        async with model.served() as address:
            cli_env = OpenCodeEnv(Path(folder), ("tmux", "-S", f"{folder}/t"), model, address, PROGRAMS)
            ours = await driven(cli_env.project, "opencode/exec", cli_env.environment, REAL_ROUNDS)
            bare = [await bare_cli(cli_env) for _ in range(REAL_ROUNDS)]
    row = added("opencode/exec", ours, bare)
    return [replace(row, name=f"{row.name}, the real CLI", floor_name="`opencode run` alone")]


async def bare_cli(cli_env: OpenCodeEnv) -> float:
    """One run of the real CLI."""
    began = time.perf_counter()
    await anyio.run_process(
        ["opencode", "run", "--format", "json"], input=b"hello", env=cli_env.environment, cwd=cli_env.project
    )
    return time.perf_counter() - began


def replay(folder: Path, program: str, script: str, recording: Path) -> Path:
    """An executable of that name that says what the recording says."""
    (folder / "bin").mkdir()
    executable = folder / "bin" / program
    executable.write_text(script.format(python=sys.executable, recording=str(recording)))
    executable.chmod(0o755)
    return executable


def added(kind: str, ours: list[float], floor: list[float]) -> Row:
    """What farhand adds, in milliseconds; shown beside the executable alone."""
    median, bare = statistics.median(ours) * 1000, statistics.median(floor) * 1000
    note = f"{median:.1f} ms with farhand; p90 {sorted(ours)[int(len(ours) * 0.9)] * 1000:.1f} ms"
    return Row(f"added to a turn: {kind}", median - bare, "ms", "the replaying executable alone", bare, note=note)


def bare_run(executable: Path) -> float:
    """The executable once, and its output read."""
    began = time.perf_counter()
    subprocess.run([executable], input=b"hello", capture_output=True, check=True)
    return time.perf_counter() - began


def bare_lines(executable: Path) -> list[float]:
    """Messages to one living executable, and the recording read back."""
    times: list[float] = []
    with subprocess.Popen([executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        if child.stdin is None or child.stdout is None:
            return times
        for _ in range(ROUNDS):
            began = time.perf_counter()
            child.stdin.write(b'{"type":"user"}\n')
            child.stdin.flush()
            while b'"type":"result"' not in child.stdout.readline():
                pass
            times.append(time.perf_counter() - began)
        child.stdin.close()
    return times


@asynccontextmanager
async def opened(folder: Path, kind: str, environment: dict[str, str]) -> AsyncIterator[tuple[Driver, Worker]]:
    """A driver, and a worker for it that is ended after."""
    holders = LocalHolders(folder / "h")
    options = TmuxHostOptions(
        node="bench",
        tmux_prefix="bench-",
        folder=folder / "node",
        socket=folder / "hooks.sock",
        interpreter=sys.executable,
        hook_program=folder / "hook.py",
    )
    given = DriverContext(
        folder=folder / "node",
        holders=holders,
        tmux_host=TmuxHost(options, Tmux(("tmux", "-S", str(folder / "t")), "bench", environment)),
        python=sys.executable,
        variables=environment,
        child=lambda more: {**environment, **more},
    )
    backend = kind.partition("/")[0]
    driver = drivers_by_kind(build_drivers(given, [backend]))[kind]
    # Not the HOME, which has settings of the agent's: those of a folder are asked about, and most folders have none.
    project = folder / "project"
    project.mkdir()
    worker = Worker(name="ann", since=1, backend=backend, directory=str(project))
    try:
        yield driver, worker
    finally:
        await driver.end(worker)


async def driven(folder: Path, kind: str, environment: dict[str, str], rounds: int = ROUNDS) -> list[float]:
    """How long turns take from the errand to the fact of their end."""
    times: list[float] = []
    async with opened(folder, kind, environment) as (driver, worker):
        async with driver.open(worker, "") as link, anyio.create_task_group() as tasks:
            ends, heard = anyio.create_memory_object_stream[TurnEnded](ROUNDS + 2)
            tasks.start_soon(listen, link, ends)
            for number in range(rounds + 2):
                began = time.perf_counter()
                await link.perform(deliver(f"t{number}"))
                with anyio.fail_after(60):
                    ended = await heard.receive()
                if ended.how is not HowEnded.COMPLETED:
                    raise RuntimeError(f"{kind}: the turn {ended.how.value}: {ended.error}")
                times.append(time.perf_counter() - began)
            tasks.cancel_scope.cancel()
        ends.close()
        heard.close()
    # The first ones pay for imports.
    return times[2:]


async def listen(link: Link, ends: Any) -> None:
    """Tells of every turn's end."""
    async for batch in link.facts():
        for one in batch.heard:
            if isinstance(one.fact, TurnEnded):
                ends.send_nowait(one.fact)


def deliver(turn: str) -> Deliver:
    """The errand that starts a turn."""
    return Deliver(turn=turn, message=Message(id=turn, text=f"hello {turn}", at=0.0, by=Sender(via="bench")))


# --- translation

# At least so fast beside bare reading, by the lower quartiles of all rounds: 50 MB/s where `json.loads` reads 66.
SHARE = 0.75


def translation() -> Iterator[Row]:
    """The recordings of every driver, repeated to 100 MB."""
    for path in sorted(PURE.glob("*/test*recordings.py")):
        module = importlib.import_module(f"tests.pure.{path.parent.name}.{path.stem}")
        if hasattr(module, "way") and hasattr(module, "records"):
            yield from translated(path.parent.name, module)


def resident_bytes() -> int:
    """What this process takes of memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bare(record: bytes) -> None:
    """The least that a line costs in Python: it is read, and nothing is made of it."""
    with suppress(ValueError):
        json.loads(record)


def translated(name: str, module: Any) -> list[Row]:
    """How fast one driver's recordings are translated (the lower quartile of all rounds), and what it leaves behind."""
    whole = [(module.way(path), module.records(path)) for path in module.RECORDINGS]
    size = sum(len(record) for _, some in whole for record in some)
    gc.collect()
    rounds: tuple[list[float], list[float]] = ([], [])
    done, halfway = 0, 0
    while done < BYTES:
        began = time.process_time()
        for (translator, start), some in whole:
            state = start
            for record in some:
                _, state = translator(record, state)
        read = time.process_time()
        for _, some in whole:
            for record in some:
                bare(record)
        for taken, seconds in zip(rounds, (read - began, time.process_time() - read), strict=True):
            taken.append(seconds)
        done += size
        if not halfway and done > BYTES // 10:
            halfway = resident_bytes()
    grown = (resident_bytes() - halfway) / MEGABYTE
    ours, floor = (size / MEGABYTE / statistics.quantiles(taken, n=4)[0] for taken in rounds)
    note = f"{size:,} bytes repeated; CPU time; the goal is 50 MB/s"
    return [
        Row(f"translation: {name}", ours, "MB/s", "json.loads alone", floor, ours / floor, SHARE, "higher", note),
        Row(f"memory grown over the last 90 MB of translation: {name}", grown, "MB", limit=8.0),
    ]
