"""A node in another process that a test kills and starts again; its folder outlives it."""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream
from tests.in_memory import tmp_path

from farhand.testing.leftovers import end_agents

# What is killed is a process, and not the machine: no disk is needed.
__all__ = ["KilledNode", "tmp_path"]
LONGEST_LINE = 100


class KilledNode:
    """`farhand.testing.node`, life after life, each forked from a process that has loaded everything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kills = 0
        self._starter: anyio.abc.Process | None = None
        self._told: BufferedByteReceiveStream | None = None
        self._process = 0
        self._code: int | None = None

    async def launch(self, *arguments: str, kill_at: str = "") -> None:
        """Starts it, to be killed at that place on the road of a message."""
        starter = self._starter or await self._start()
        words = [str(self.folder), *arguments, *(["--kill-at", kill_at] if kill_at else [])]
        assert starter.stdin is not None
        await starter.stdin.send(f"{json.dumps(words)}\n".encode())
        self._process, self._code = await self._number(), None

    async def _start(self) -> anyio.abc.Process:
        """The process that all its lives are forked from."""
        log = self.folder / "log"
        command = [sys.executable, "-m", "farhand.testing.forked_node", str(log)]
        with log.open("ab") as file:
            self._starter = await anyio.open_process(command, stderr=file, start_new_session=True)
        assert self._starter.stdout is not None
        self._told = BufferedByteReceiveStream(self._starter.stdout)
        return self._starter

    async def _number(self) -> int:
        assert self._told is not None, "it was never started"
        return int(await self._told.receive_until(b"\n", LONGEST_LINE))

    async def _ended(self) -> int:
        """Its exit code, as soon as it has one."""
        if self._code is None:
            self._code = await self._number()
        return self._code

    def kill(self) -> None:
        """Kills it where it stands."""
        os.kill(self._process, signal.SIGKILL)

    async def died(self) -> None:
        """Returns when it was killed."""
        code = await self._ended()
        assert code == -signal.SIGKILL, f"the node ended by itself with {code}"
        self.kills += 1

    async def stop(self) -> None:
        """Asks it to end; returns when it has."""
        os.kill(self._process, signal.SIGTERM)
        assert await self._ended() == 0

    async def end(self) -> None:
        """Leaves nothing behind, neither the node nor its agents, also when the test is cancelled."""
        with anyio.CancelScope(shield=True):
            if self._starter is not None:
                if self._process and self._code is None:
                    self.kill()
                    await self._ended()
                # With a node, too, whose start was cancelled before its id was told.
                with suppress(ProcessLookupError):
                    os.killpg(self._starter.pid, signal.SIGKILL)
                await self._starter.aclose()
            await end_agents(self.folder)
