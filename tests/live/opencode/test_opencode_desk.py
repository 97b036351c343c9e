"""A person sits down at the real OpenCode in tmux: what is answered and said there is told on the phone, too."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import pytest

from farhand.app import open_drivers
from farhand.drivers.opencode.driver import TmuxDriver
from farhand.model import facts
from farhand.model.present import Worker
from farhand.model.words import HowEnded, HowSettled
from farhand.testing.contracts.driver import talking
from farhand.testing.house import settings_in
from farhand.testing.models.script import say, use
from farhand.testing.opencode import OpenCodeStudio
from farhand.testing.studio import until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def driver(studio: OpenCodeStudio) -> AsyncIterator[TmuxDriver]:
    """The driver in tmux."""
    chosen = studio.drivers()["opencode/tmux"]
    assert isinstance(chosen, TmuxDriver)
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, [chosen], settings_in(studio.folder).hooks)
        yield chosen
        tasks.cancel_scope.cancel()


async def test_what_is_answered_and_said_at_the_desk_is_told(studio: OpenCodeStudio, driver: TmuxDriver) -> None:
    touch = use("bash", command="touch desk.txt", description="Make a file")
    studio.model.script.conversation("zz-desk", touch, say("made it"))
    studio.model.script.conversation("zz-typed", say("heard you at the desk"))
    worker = Worker(name="ann", since=1, backend="opencode", directory=str(studio.project))
    async with talking(driver, worker) as talk:
        await talk.say("t1", "zz-desk")
        raised = await talk.hear(facts.AskRaised)
        pane = await driver.station.found(worker)
        assert pane is not None
        await until(studio, pane, "Permission required")
        assert not (studio.project / "desk.txt").exists()
        await studio.tmux.press(pane, "Enter")
        settled = await talk.hear(facts.AskSettled)
        assert (settled.ask, settled.how) == (raised.ask, HowSettled.DESK)
        assert (await talk.ended("t1")).how is HowEnded.COMPLETED
        assert (studio.project / "desk.txt").exists()
        await until(studio, pane, "made it")
        await studio.tmux.type(pane, "zz-typed")
        await studio.tmux.press(pane, "Enter")
        await talk.hear(facts.TurnStarted)
        await talk.hear(facts.Said, lambda said: "at the desk" in said.text)
    await driver.end(worker)
    assert await driver.station.found(worker) is None
    assert await anyio.to_thread.run_sync(studio.agents) == []
