"""What a real agent CLI is tried by, whichever it is: each of its drivers alone, and its workers in a whole node.

A test module gives a `studio` fixture, inherits `AgentAlone` for each driver, and `AgentAtWork` once.
"""

from __future__ import annotations

import os
import signal
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from farhand.app import open_drivers
from farhand.model.ports import Driver
from farhand.testing.cli_env import CliEnv
from farhand.testing.contracts import worker
from farhand.testing.contracts.driver import DriverContract, Words
from farhand.testing.contracts.worker import Stage
from farhand.testing.house import House, settings_in
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say

Promise = Callable[[House, Stage], Awaitable[None]]
ALL = Words(plain="zz-plain", tool="zz-tool", ask="zz-ask", fail="zz-fail", slow="zz-slow")


class AgentAlone(DriverContract):
    """A driver without a core: its link, its cursor, its errands."""

    # As a worker's kind names it.
    kind = ""
    said = ALL

    @abstractmethod
    def plays(self, studio: Any) -> None:
        """Tells the fake model what to do at each of the words; every test needs some of these only."""

    @pytest.fixture
    def directory(self, studio: CliEnv) -> Path:
        return studio.project

    @pytest.fixture
    def words(self) -> Words:
        return self.said

    @pytest.fixture
    async def driver(self, studio: CliEnv) -> AsyncIterator[Driver]:
        self.plays(studio)
        chosen = studio.drivers()[self.kind]
        async with anyio.create_task_group() as tasks:
            await open_drivers(tasks, [chosen], settings_in(studio.folder).hooks)
            yield chosen
            tasks.cancel_scope.cancel()
        studio.forget()


class ScriptedStage:
    """A CLI whose fake model plays a script. `touch` is the tool call that runs a command of the shell."""

    def __init__(self, studio: Any, kind: str, touch: Callable[[str], ScriptedReply]) -> None:
        self._studio = studio
        self._touch = touch
        self.backend = kind
        self.directory = str(studio.project)

    def answers(self, marker: str, text: str) -> None:
        """One answer."""
        self._studio.model.script.conversation(marker, say(text))

    def holds(self, marker: str, first: str, rest: str) -> Callable[[], None]:
        """One answer in two parts."""
        self._studio.model.script.conversation(
            marker, ScriptedReply((ScriptedText(first), Hold(marker), ScriptedText(rest)))
        )
        return lambda: self._studio.model.script.release(marker)

    def asks(self, marker: str, text: str) -> Callable[[], bool]:
        """A shell command that leaves a file."""
        self._studio.model.script.conversation(marker, self._touch(f"touch {marker}.txt"), say(text))
        return Path(self.directory, f"{marker}.txt").exists

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._studio.model.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        for pid in await anyio.to_thread.run_sync(self._studio.agents):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.anyio
class AgentAtWork:
    """A worker in a whole node. Inherit, and give a `stage` fixture: one for each way to reach the agent."""

    def wants(self, stage: Stage, promise: Promise) -> None:
        """Skips what this way to reach the agent cannot do, or need not show again."""

    @pytest.mark.parametrize("promise", worker.PROMISES, ids=lambda promise: promise.__name__)
    async def test_promise(self, studio: CliEnv, stage: Stage, promise: Promise) -> None:
        self.wants(stage, promise)
        async with studio.open() as house:
            await promise(house, stage)

    async def test_a_turn_outlives_the_node(self, studio: CliEnv, stage: Stage) -> None:
        async with studio.open() as house:
            release = await worker.before_a_restart(house, stage)
        release()
        async with studio.open() as house:
            await worker.after_a_restart(house)
