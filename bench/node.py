"""A node in a process of its own, with a scripted agent inside and an echo beside its door: what `road` measures.

The second socket speaks lines: `end` lets the agent end its turn, `burst N` lets every worker say N facts,
`fan N` writes N lines to everybody who said `join`, and anything else comes back as it is.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from farhand import app
from farhand.config import logs
from farhand.core.clock import SystemClock
from farhand.model.facts import Fact, Said, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.words import HowEnded
from farhand.testing.house import settings_in
from farhand.testing.scripted import ScriptedDriver

WORDS = "The tests pass now; the failing one waited for a file that nobody wrote any more. " * 2
LINE = b'{"id":1,"events":[{"seq":1000000,"at":1763247600.25,"worker":"worker-10","fact":%s}]}\n'


class Agent(ScriptedDriver):
    """Notes when a message was handed to it, and ends the turn when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = 0
        self.turn = ""
        self.worker = ""

    def default(self, errand: Deliver) -> Sequence[Fact]:
        """Nothing: the turn stays open."""
        self.arrived = time.monotonic_ns()
        self.turn = errand.turn
        return ()

    async def end_turn(self) -> None:
        """Brings the last fact; its text tells when the message came and when this was."""
        ended = TurnEnded(how=HowEnded.COMPLETED, error=f"{self.arrived} {time.monotonic_ns()}")
        await self.links[self.worker].say(ended, turn=self.turn)

    async def burst(self, count: int) -> None:
        """Lets all workers talk at once."""

        async def talk(worker: str) -> None:
            for _ in range(count):
                await self.links[worker].say(Said(text=WORDS))

        async with anyio.create_task_group() as tasks:
            for worker in self.links:
                tasks.start_soon(talk, worker)


class Beside:
    """The second socket: the same kind of server as the door, with nothing behind it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._joined: list[asyncio.StreamWriter] = []

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers until the visitor leaves."""
        while line := await reader.readline():
            match line.split():
                case [b"end", worker]:
                    self._agent.worker = worker.decode()
                    await self._agent.end_turn()
                case [b"burst", count]:
                    await self._agent.burst(int(count))
                case [b"join"]:
                    self._joined.append(writer)
                    writer.write(b"joined\n")
                case [b"fan", count]:
                    await self._fan(int(count))
                case _:
                    writer.write(line)
                    await writer.drain()

    async def _fan(self, count: int) -> None:
        line = LINE % b'"%s"' % WORDS.encode()
        for _ in range(count):
            for writer in self._joined:
                writer.write(line)
                await writer.drain()


async def serve(folder: Path) -> None:
    """Runs until it is killed."""
    agent = Agent()
    settings = settings_in(folder)
    beside = Beside(agent)
    async with app.node(settings, {agent.backend: agent}, lambda _: [], SystemClock()):
        server = await asyncio.start_unix_server(beside.talk, path=folder / "echo.sock")
        print("ready", flush=True)
        async with server:
            # Whoever started this closes its input to end it.
            await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Logs as a node does, and serves."""
    folder = Path(sys.argv[1])
    logs.set_up(logs.LogFile(folder / "bridge.log"), show=False)
    anyio.run(serve, folder)


if __name__ == "__main__":
    main()
