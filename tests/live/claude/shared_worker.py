"""One Claude Code for the tests of a file that need a worker who listens and no more: they have it in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf

from tests.conftest import claude_env, tmux_in
from tests.interrupted import made_short_folder

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House


@dataclass
class SharedWorker:
    """Ann, who has nothing to do when a test begins."""

    cli_env: ClaudeEnv
    house: House
    failed: bool = False

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[House]:
        """The house as if it had just been opened; at the end she has nothing to do again."""
        assert not self.failed, "a test before this one failed, and left the worker busy"
        self.failed = True
        self.house.begin_anew()
        yield self.house
        await self.house.until(lambda present: present.workers["ann"].state_at(inf) == "available")
        self.cli_env.model.script.check()
        self.failed = False


@asynccontextmanager
async def shared_worker(backend: str) -> AsyncIterator[SharedWorker]:
    """Ann is there for as long as the block lasts."""
    with made_short_folder() as folder, tmux_in(folder) as server:
        async with claude_env(folder, server) as cli_env, cli_env.open() as house:
            await house.hire("ann", backend, directory=cli_env.project)
            yield SharedWorker(cli_env, house)
