"""The contract of drivers, kept by the real OpenCode: over its server, as one command a turn, and in its terminal."""

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
from farhand.testing.models.script import Failure, Hold, Reply, Text, say, use
from farhand.testing.opencode import OpenCodeStudio

pytestmark = pytest.mark.anyio
FAILURE = Failure(400, "invalid_request_error", "the model is not in the mood")


class TestHeadless(DriverContract):
    """The driver alone, without a core: its link, its cursor, its errands."""

    kind = "opencode/headless"

    @pytest.fixture
    def directory(self, studio: OpenCodeStudio) -> Path:
        return studio.project

    @pytest.fixture
    async def driver(self, studio: OpenCodeStudio) -> AsyncIterator[Driver]:
        script = studio.model.script
        script.conversation("zz-plain", *[say("hello there", piece=4)] * 3)
        script.conversation("zz-tool", use("glob", pattern="*"), say("looked"))
        script.conversation("zz-ask", use("bash", command="touch a", description="Make"), say("made"))
        script.conversation("zz-fail", FAILURE)
        script.conversation("zz-slow", Reply((Text("started"), Hold("never"))))
        chosen = studio.drivers()[self.kind]
        async with anyio.create_task_group() as tasks:
            await open_drivers(tasks, [chosen], settings_in(studio.folder).hooks)
            yield chosen
            tasks.cancel_scope.cancel()
        # Every test needs some of these only.
        script.forget()

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", tool="zz-tool", ask="zz-ask", fail="zz-fail", slow="zz-slow")


class TestOneCommandATurn(TestHeadless):
    """The same, a process a turn; it cannot ask."""

    kind = "opencode/exec"

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", tool="zz-tool", fail="zz-fail", slow="zz-slow")


class TestInTheTerminal(TestHeadless):
    """The same, where a person can sit down."""

    kind = "opencode/tmux"


class OpenCodeStage:
    """OpenCode, scripted by its fake model."""

    def __init__(self, studio: OpenCodeStudio, wire: str) -> None:
        self._studio = studio
        self.backend = "opencode"
        self.wire = wire
        self.options = {"wire": wire}
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
        command = use("bash", command=f"touch {marker}.txt", description="Leave a file")
        self._studio.model.script.conversation(marker, command, say(text))
        return (self._studio.project / f"{marker}.txt").exists

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._studio.model.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        for pid in await anyio.to_thread.run_sync(self._studio.agents):
            os.kill(pid, signal.SIGKILL)


# The terminal is slow to start and has the same link: it shows what is its own.
IN_THE_TERMINAL = (
    worker.nothing_runs_before_it_is_allowed,
    worker.a_relaunched_worker_keeps_its_session,
    worker.a_killed_agent_is_told_and_comes_back,
)
# A process a turn cannot ask, and at rest there is none to kill; that a turn outlives the node is shown from the phone.
IN_RUNS = (
    worker.a_turn_is_stopped_and_the_next_one_runs,
    worker.a_relaunched_worker_keeps_its_session,
)
Promise = Callable[[House, Stage], Awaitable[None]]


@pytest.fixture(params=["headless", "tmux"])
def stage(request: pytest.FixtureRequest, studio: OpenCodeStudio) -> OpenCodeStage:
    """Each of the two that live between turns."""
    return OpenCodeStage(studio, request.param)


@pytest.mark.parametrize("promise", worker.PROMISES, ids=lambda promise: promise.__name__)
async def test_promise(studio: OpenCodeStudio, promise: Promise) -> None:
    async with studio.open() as house:
        await promise(house, OpenCodeStage(studio, "headless"))


@pytest.mark.parametrize("promise", IN_THE_TERMINAL, ids=lambda promise: promise.__name__)
async def test_promise_in_the_terminal(studio: OpenCodeStudio, promise: Promise) -> None:
    async with studio.open() as house:
        await promise(house, OpenCodeStage(studio, "tmux"))


@pytest.mark.parametrize("promise", IN_RUNS, ids=lambda promise: promise.__name__)
async def test_promise_in_runs(studio: OpenCodeStudio, promise: Promise) -> None:
    async with studio.open() as house:
        await promise(house, OpenCodeStage(studio, "exec"))


async def test_a_turn_outlives_the_node(studio: OpenCodeStudio, stage: OpenCodeStage) -> None:
    async with studio.open() as house:
        release = await worker.before_a_restart(house, stage)
    release()
    async with studio.open() as house:
        await worker.after_a_restart(house)
