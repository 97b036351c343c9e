"""The contract of drivers, kept by the real Gemini CLI: over ACP, a process a turn, and in its terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from threading import Event

import anyio
import pytest

from farhand.app import open_drivers
from farhand.model.ports import Driver
from farhand.testing.contracts import worker
from farhand.testing.contracts.driver import DriverContract, Words
from farhand.testing.contracts.worker import Stage
from farhand.testing.gemini import GeminiStage, GeminiStudio
from farhand.testing.house import House, settings_in
from farhand.testing.models.gemini import calls, held, refuses, says

pytestmark = pytest.mark.anyio


class TestOverAcp(DriverContract):
    """The driver alone, without a core: its link, its cursor, its errands."""

    kind = "gemini/headless"

    @pytest.fixture
    def directory(self, studio: GeminiStudio) -> Path:
        return studio.project

    @pytest.fixture
    async def driver(self, studio: GeminiStudio) -> AsyncIterator[Driver]:
        model = studio.model
        make = {"command": "touch a", "description": "Make"}
        model.expect(*[says("hello ", "there")] * 3, prompt="zz-plain")
        model.expect(calls("list_directory", {"dir_path": "."}), says("looked"), prompt="zz-tool")
        model.expect(calls("run_shell_command", make), says("made"), prompt="zz-ask")
        model.expect(refuses(400, "the model is not in the mood"), prompt="zz-fail")
        model.expect(held(Event(), "started ", "never", before=1), prompt="zz-slow")
        chosen = studio.drivers()[self.kind]
        async with anyio.create_task_group() as tasks:
            await open_drivers(tasks, [chosen], settings_in(studio.folder).hooks)
            yield chosen
            tasks.cancel_scope.cancel()

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", tool="zz-tool", ask="zz-ask", fail="zz-fail", slow="zz-slow")


class TestAProcessATurn(TestOverAcp):
    """The same, as far as it goes: it cannot ask."""

    kind = "gemini/exec"

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="zz-plain", tool="zz-tool", fail="zz-fail", slow="zz-slow")


class TestInTheTerminal(TestOverAcp):
    """The same, where a person can sit down."""

    kind = "gemini/tmux"


@pytest.fixture(params=["headless", "tmux"])
def stage(request: pytest.FixtureRequest, studio: GeminiStudio) -> GeminiStage:
    """Each of the ways to reach it that can ask."""
    return GeminiStage(studio, "gemini", request.param)


@pytest.mark.parametrize("promise", worker.PROMISES, ids=lambda promise: promise.__name__)
async def test_promise(
    studio: GeminiStudio, stage: GeminiStage, promise: Callable[[House, Stage], Awaitable[None]]
) -> None:
    async with studio.open() as house:
        await promise(house, stage)


async def test_a_turn_outlives_the_node(studio: GeminiStudio, stage: GeminiStage) -> None:
    async with studio.open() as house:
        release = await worker.before_a_restart(house, stage)
    release()
    async with studio.open() as house:
        await worker.after_a_restart(house)
