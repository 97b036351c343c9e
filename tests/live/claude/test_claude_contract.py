"""The contract of drivers, kept by the real Claude Code in its terminal and without one."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from farhand.app import open_drivers
from farhand.model.ports import Driver
from farhand.testing.contracts import worker
from farhand.testing.contracts.driver import DriverContract, Words
from farhand.testing.contracts.worker import Stage
from farhand.testing.house import House, settings_in
from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.studio import Studio

pytestmark = pytest.mark.anyio


class TestInTheTerminal(DriverContract):
    """The driver alone, without a core: its link, its cursor, its errands."""

    backend = "claude"

    @pytest.fixture
    def directory(self, studio: Studio) -> Path:
        return studio.project

    @pytest.fixture
    async def driver(self, studio: Studio) -> AsyncIterator[Driver]:
        script = studio.model.script
        tool, ask = use("Bash", command="ls", description="Look"), use("Bash", command="touch a", description="Make")
        script.conversation("zz-plain", *[say("hello there")] * 3)
        script.conversation("zz-tool", tool, say("looked"))
        script.conversation("zz-ask", ask, say("made"))
        script.conversation("zz-fail", limited("come back tomorrow"))
        script.conversation("zz-slow", Reply((Text("started"), Hold("never"))))
        chosen = studio.drivers()[self.backend]
        async with anyio.create_task_group() as tasks:
            await open_drivers(tasks, [chosen], settings_in(studio.folder).hooks)
            yield chosen
            tasks.cancel_scope.cancel()
        # Every test needs some of these only.
        script.forget()

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", tool="zz-tool", ask="zz-ask", fail="zz-fail", slow="zz-slow")


class TestWithoutATerminal(TestInTheTerminal):
    """The same, over JSON lines."""

    backend = "claude-headless"


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
