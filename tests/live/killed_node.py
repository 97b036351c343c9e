"""A node in another process that a test kills and starts again; its folder outlives it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc

from farhand.testing.leftovers import end_agents


class KilledNode:
    """`farhand.testing.node`, life after life."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kills = 0
        self._process: anyio.abc.Process | None = None

    @property
    def process(self) -> anyio.abc.Process:
        """The newest of its processes."""
        assert self._process is not None, "it was never started"
        return self._process

    async def launch(self, *arguments: str, kill_at: str = "") -> None:
        """Starts it, to be killed at that place on the road of a message."""
        command = [sys.executable, "-m", "farhand.testing.node", str(self.folder), *arguments]
        command += ["--kill-at", kill_at] if kill_at else []
        with (self.folder / "log").open("ab") as log:
            self._process = await anyio.open_process(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self) -> None:
        """Kills it where it stands."""
        # Not by the process object: it may reap a child that has just died, and its exit code with it.
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    async def died(self) -> None:
        """Returns when it was killed."""
        code = await self.process.wait()
        assert code == -signal.SIGKILL, f"the node ended by itself with {code}"
        self.kills += 1

    async def stop(self) -> None:
        """Asks it to end; returns when it has."""
        self.process.terminate()
        assert await self.process.wait() == 0

    async def end(self) -> None:
        """Leaves nothing behind, neither the node nor its agents, also when the test is cancelled."""
        with anyio.CancelScope(shield=True):
            if self._process is not None:
                if self._process.returncode is None:
                    self.kill()
                await self._process.wait()
            await end_agents(self.folder)
