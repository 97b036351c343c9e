"""What a sandbox costs a turn: the real Claude Code without a terminal, inside and outside of one, in turns."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.claude import PROGRAMS
from bench.process import FARHAND, ME, SAFETY_SECONDS, answered, folder, let_go
from bench.rows import Row
from bench.timing import median
from farhand.client.door import SocketHub
from farhand.model.commands import Hire, Say
from farhand.model.errors import ProgramMissing
from farhand.model.facts import CameOnline, TurnEnded
from farhand.model.sandbox import OFF, ON, OPTION
from farhand.testing.bun import AS_SHIPPED
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.script import say
from farhand.testing.sandbox_engines import variables

ROUNDS = 25
LIMIT_MS = 20.0


async def measure() -> list[Row]:
    """One row for each engine that runs here."""
    return [await turns(kind) for kind in ("bwrap", "podman")]


async def turns(kind: str) -> Row:
    """The same turn of two workers of one node, one of them in a sandbox, one after the other."""
    name = f"a turn in {kind}, more than outside"
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as place:
        home = Path(place)
        try:
            given = await asyncio.to_thread(variables, kind, home, PROGRAMS)
        except ProgramMissing as error:
            return Row(name, 0.0, "ms", note=f"not measured: {error.text}")
        model = FakeAnthropic()
        model.script.conversation("zz", *[say("good.") for _ in range(2 * ROUNDS + 4)])
        async with model.served() as address:
            cli_env = ClaudeEnv(home, ("tmux", "-S", str(home / "tmux")), model, address, PROGRAMS, AS_SHIPPED)
            async with running(cli_env, given) as hub:
                taken = [await turn(hub, worker) for _ in range(ROUNDS) for worker in ("inside", "outside")]
    inside, outside = median(taken[0::2]) * 1e3, median(taken[1::2]) * 1e3
    return Row(name, inside - outside, "ms", limit=LIMIT_MS, note=f"{inside:.1f} ms inside, {outside:.1f} ms outside")


@asynccontextmanager
async def running(cli_env: ClaudeEnv, given: dict[str, str]) -> AsyncIterator[SocketHub]:
    """A node with both workers, each of which has had a turn."""
    command = [FARHAND, "run", "--node", "box", "-p", "0", "--no-tunnel", "--headless", "--no-telegram"]
    environment = {**cli_env.environment, **given, "FARHAND_HOME": str(cli_env.folder), "SANDBOX_ENABLED": "0"}
    with subprocess.Popen(  # noqa: ASYNC220
        command, cwd=cli_env.project, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        door = folder(cli_env.folder, "box") / "hub.sock"
        await asyncio.to_thread(answered, door)
        try:
            async with SocketHub(door) as hub:
                for worker, sandbox in (("inside", ON), ("outside", OFF)):
                    await hire(hub, worker, sandbox, str(cli_env.project))
                    await turn(hub, worker)
                yield hub
        finally:
            await let_go(door)
            process.send_signal(signal.SIGTERM)


async def hire(hub: SocketHub, worker: str, sandbox: str, directory: str) -> None:
    """Takes one on, and waits until its agent is there."""
    after = (await hub.look()).seq
    options = {"wire": "headless", OPTION: sandbox}
    await hub.send(Hire(id=f"hire-{worker}", worker=worker, backend="claude", directory=directory, options=options), ME)
    await until(hub, after, worker, CameOnline)


async def turn(hub: SocketHub, worker: str) -> float:
    """How long a turn takes, from the message to its end."""
    after = (await hub.look()).seq
    began = time.perf_counter()
    await hub.send(Say(id=f"say-{os.urandom(8).hex()}", worker=worker, text="zz"), ME)
    await until(hub, after, worker, TurnEnded)
    return time.perf_counter() - began


async def until(hub: SocketHub, after: int, worker: str, kind: type[CameOnline | TurnEnded]) -> None:
    """Waits for that fact of that worker."""
    async with asyncio.timeout(SAFETY_SECONDS):
        async for event in hub.watch(after=after):
            if event.worker == worker and isinstance(event.fact, kind):
                return
