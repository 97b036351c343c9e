"""What a node costs as a process: to start, to hold in memory, and to let fifty workers wait."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.conversations import build
from bench.rows import Row, beside
from bench.timing import PYTHON, cpu_seconds, median, resident_bytes, run, seconds
from farhand.client.door import SocketHub, connect
from farhand.model.commands import End, Hire
from farhand.model.errors import NodeNotRunning
from farhand.model.facts import CameOnline, Ended, TurnEnded
from farhand.model.words import Sender

ROUNDS = 9
WORKERS = 50
IDLE_SECONDS = 15.0
SMALL, LARGE = 1_000, 1_000_000
ME = Sender(via="bench")
SAFETY_SECONDS = 120.0
FARHAND = str(Path(PYTHON).with_name("farhand"))


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    yield help_row()
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        home = Path(name)
        yield status_row(home / "status")
        yield from start_rows(home)
        yield from idle_rows(home)


def help_row() -> Row:
    """`farhand --help` beside an interpreter that does nothing."""
    bare, ours = [], []
    for _ in range(ROUNDS * 2 + 1):
        bare.append(seconds(lambda: run(PYTHON, "-c", "pass")))
        ours.append(seconds(lambda: run(FARHAND, "--help")))
    return beside("farhand --help", median(ours) * 1e3, "ms", "python -c pass", median(bare) * 1e3, 2.0)


def status_row(home: Path) -> Row:
    """`farhand status` of three running nodes beside an interpreter that does nothing."""
    home.mkdir()
    bare, ours = [], []
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FARHAND_HOME": str(home)}
    with ExitStack() as stack:
        for node in ("one", "two", "three"):
            stack.enter_context(running(home, node))
        for _ in range(ROUNDS):
            bare.append(seconds(lambda: run(PYTHON, "-c", "pass")))
            ours.append(
                seconds(
                    lambda: subprocess.run(
                        [FARHAND, "status", "--all"], env=environment, capture_output=True, check=True
                    )
                )
            )
    return beside(
        "farhand status --all, three nodes", median(ours) * 1e3, "ms", "python -c pass", median(bare) * 1e3, 12.0
    )


def start_rows(home: Path) -> list[Row]:
    """A node's start until its door answers, on a short and on a long journal, in turns."""
    build(folder(home, "small") / "farhand.db", SMALL)
    build(folder(home, "large") / "farhand.db", LARGE)
    bare: list[float] = []
    taken: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(ROUNDS):
        bare.append(seconds(lambda: run(PYTHON, "-c", "pass")))
        for name, times in taken.items():
            with running(home, name) as (_, started):
                times.append(started)
    quick, slow = median(taken["small"]) * 1e3, median(taken["large"]) * 1e3
    note = "the goal is 1,000 ms"
    return [
        beside("node start → ready", quick, "ms", "python -c pass", median(bare) * 1e3, note=note),
        beside("node start → ready at 10⁶ events", slow, "ms", "at 10³ events", quick, 1.25),
    ]


def folder(home: Path, node: str) -> Path:
    """Where a node of that home lives."""
    return home / "nodes" / node


@contextmanager
def running(home: Path, node: str) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """`farhand run`, and how long it took until its door answered."""
    command = [FARHAND, "run", "--node", node, "-p", "0", "--no-tunnel", "--headless", "--no-telegram"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FARHAND_HOME": str(home)}
    began = time.perf_counter()
    with subprocess.Popen(
        command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        started = answered(folder(home, node) / "hub.sock") - began
        try:
            yield process, started
        finally:
            process.send_signal(signal.SIGTERM)


def answered(door: Path) -> float:
    """The moment at which the door answers."""
    give_up = time.perf_counter() + SAFETY_SECONDS
    while time.perf_counter() < give_up:
        try:
            with connect(door) as link:
                link.setblocking(True)
                link.sendall(b'{"do":"look"}\n')
                link.recv(1)
                return time.perf_counter()
        except NodeNotRunning:
            time.sleep(0.002)
    raise AssertionError("the node did not start")


# --- fifty workers that wait


def idle_rows(home: Path) -> list[Row]:
    """Memory and time of a node whose workers have nothing to do."""
    door = folder(home, "idle") / "hub.sock"
    with running(home, "idle") as (process, _):
        alone, before = resident_bytes(process.pid) / 1e6, cpu_seconds(process.pid)
        asyncio.run(hire(door))
        # A clock that shows no work where there was some would make every idle node look perfect.
        assert cpu_seconds(process.pid) > before
        try:
            children = descendants(process.pid, home)
            node, held = idle(process.pid, children)
            crowded = resident_bytes(process.pid) / 1e6
        finally:
            asyncio.run(let_go(door))
    return [
        Row("memory of a node", alone, "MB", limit=80.0, note="no Telegram, no worker"),
        Row(f"memory of a node, {WORKERS} workers", crowded, "MB", limit=80.0, note="no Telegram"),
        Row(f"CPU of an idle node, {WORKERS} workers", node, "% of a core", limit=0.5),
        Row("… with holders and agents", node + held, "% of a core", note=f"{len(children)} processes"),
    ]


def idle(node: int, children: Sequence[int]) -> tuple[float, float]:
    """Percent of a core that the node and everything it holds use while nothing happens."""
    before = cpu_seconds(node), sum(map(cpu_seconds, children))
    time.sleep(IDLE_SECONDS)
    after = cpu_seconds(node), sum(map(cpu_seconds, children))
    own, held = ((late - early) / IDLE_SECONDS * 100 for early, late in zip(before, after, strict=True))
    return own, held


def descendants(node: int, home: Path) -> list[int]:
    """The holders and agents of that home: they are nobody's children, but their command or folder names it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (node, os.getpid()):
            continue
        try:
            where = (entry / "cwd").readlink()
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if where.is_relative_to(home) or str(home).encode() in words:
            found.append(int(entry.name))
    return found


async def hire(door: Path) -> None:
    """Takes on fifty demo workers, and waits until all of them are there and have answered their welcome."""
    async with SocketHub(door) as hub:
        events = hub.watch(after=0)
        for number in range(WORKERS):
            await hub.send(Hire(id=f"hire-{number}", worker=f"demo-{number}", backend="demo"), ME)
            async for event in events:
                if isinstance(event.fact, CameOnline):
                    break
        greeted: set[str] = set()
        async with asyncio.timeout(SAFETY_SECONDS):
            async for event in hub.watch(after=0):
                if isinstance(event.fact, TurnEnded):
                    greeted.add(event.worker)
                if len(greeted) == WORKERS:
                    break


async def let_go(door: Path) -> None:
    """Ends every worker: its holder and agent are processes that would outlive the node."""
    async with SocketHub(door) as hub:
        present = await hub.look()
        events, workers = hub.watch(after=present.seq), list(present.workers)
        for worker in workers:
            await hub.send(End(id=f"end-{worker}", worker=worker), ME)
        left = set(workers)
        async with asyncio.timeout(SAFETY_SECONDS):
            while left:
                event = await anext(events)
                if isinstance(event.fact, Ended):
                    left.discard(event.worker)
