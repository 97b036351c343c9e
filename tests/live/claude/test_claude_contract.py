"""The contract of drivers, kept by the real Claude Code in its terminal and without one."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable

import anyio.to_thread
import pytest

from farhand.testing.contracts import worker
from farhand.testing.contracts.worker import Stage
from farhand.testing.house import House
from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.studio import Studio

pytestmark = pytest.mark.anyio


class ClaudeStage:
    """Claude Code, scripted by its fake model."""

    def __init__(self, studio: Studio, backend: str) -> None:
        self._studio = studio
        self.backend = backend
        self.directory = str(studio.project)

    def answers(self, marker: str, text: str) -> None:
        """One answer."""
        self._studio.model.script.conversation(marker, say(text))

    def holds(self, marker: str, first: str, rest: str) -> Callable[[], None]:
        """One answer in two parts."""
        self._studio.model.script.conversation(marker, Reply((Text(first), Hold(marker), Text(rest))))
        return lambda: self._studio.model.script.release(marker)

    def asks(self, marker: str, text: str) -> Callable[[], bool]:
        """A shell command that leaves a file."""
        command = use("Bash", command=f"touch {marker}.txt", description="Leave a file")
        self._studio.model.script.conversation(marker, command, say(text))
        return (self._studio.project / f"{marker}.txt").exists

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._studio.model.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        for pid in await anyio.to_thread.run_sync(self._studio.agents):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["claude", "claude-headless"])
def stage(request: pytest.FixtureRequest, studio: Studio) -> ClaudeStage:
    """Each of the two modes."""
    return ClaudeStage(studio, request.param)


@pytest.mark.parametrize("promise", worker.PROMISES, ids=lambda promise: promise.__name__)
async def test_promise(studio: Studio, stage: ClaudeStage, promise: Callable[[House, Stage], Awaitable[None]]) -> None:
    async with studio.open() as house:
        await promise(house, stage)


async def test_a_turn_outlives_the_node(studio: Studio, stage: ClaudeStage) -> None:
    async with studio.open() as house:
        release = await worker.before_a_restart(house, stage)
    release()
    async with studio.open() as house:
        await worker.after_a_restart(house)
