"""The contract of drivers, kept by the real Codex: over its app-server, one process a turn, and in its terminal."""

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
from farhand.testing.codex import CodexStudio
from farhand.testing.contracts import worker
from farhand.testing.contracts.driver import DriverContract, Words
from farhand.testing.contracts.worker import Stage
from farhand.testing.house import House, settings_in
from farhand.testing.models.responses import limited
from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.studio import red_pixel

pytestmark = pytest.mark.anyio
# What a model says when it wants to leave the sandbox.
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


class TestOverTheAppServer(DriverContract):
    """The driver alone, without a core: its link, its cursor, its errands."""

    kind = "codex/headless"

    @pytest.fixture
    def directory(self, studio: CodexStudio) -> Path:
        return studio.project

    @pytest.fixture
    async def driver(self, studio: CodexStudio) -> AsyncIterator[Driver]:
        (studio.project / "red.png").write_bytes(red_pixel())
        script = studio.model.script
        script.conversation("zz-plain", *[say("hello there", piece=4)] * 3)
        script.conversation("zz-tool", use("view_image", path=str(studio.project / "red.png")), say("looked"))
        script.conversation("zz-ask", use("exec_command", cmd="touch a", **ESCALATED), say("made"))
        script.conversation("zz-fail", limited("come back tomorrow"))
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


class TestInTheTerminal(TestOverTheAppServer):
    """The same, with keys, hooks and the rollout."""

    kind = "codex/tmux"


class TestAProcessATurn(TestOverTheAppServer):
    """The same, with `codex exec --json`, which cannot ask."""

    kind = "codex/exec"

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", fail="zz-fail", slow="zz-slow")


class CodexStage:
    """Codex, scripted by its fake model."""

    def __init__(self, studio: CodexStudio, backend: str) -> None:
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
        touch = use("exec_command", cmd=f"touch {marker}.txt", **ESCALATED)
        self._studio.model.script.conversation(marker, touch, say(text))
        return (self._studio.project / f"{marker}.txt").exists

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._studio.model.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        for pid in await anyio.to_thread.run_sync(self._studio.agents):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["codex", "codex/tmux", "codex/exec"])
def stage(request: pytest.FixtureRequest, studio: CodexStudio) -> CodexStage:
    """Each of the ways to reach it."""
    return CodexStage(studio, request.param)


@pytest.mark.parametrize("promise", worker.PROMISES, ids=lambda promise: promise.__name__)
async def test_promise(
    studio: CodexStudio, stage: CodexStage, promise: Callable[[House, Stage], Awaitable[None]]
) -> None:
    if stage.backend == "codex/exec" and promise in (
        worker.nothing_runs_before_it_is_allowed,
        worker.a_killed_agent_is_told_and_comes_back,
    ):
        pytest.skip("a process a turn cannot ask, and at rest there is none to kill")
    async with studio.open() as house:
        await promise(house, stage)


async def test_a_turn_outlives_the_node(studio: CodexStudio, stage: CodexStage) -> None:
    async with studio.open() as house:
        release = await worker.before_a_restart(house, stage)
    release()
    async with studio.open() as house:
        await worker.after_a_restart(house)
