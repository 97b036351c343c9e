"""The start of the terminal app: the screen is there before the agent is, and what is typed meanwhile waits for it."""

from __future__ import annotations

import time

import anyio
import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.shown_app import Shown
from tests.sdk.test_imports import imported_by

from farhand.cli.remote_control import sdk_action
from farhand.cli.tui_agent import AgentDesk
from farhand.cli.tui_opening import OpeningDesk
from farhand.model.errors import FarhandError
from farhand.remote.sdk_session import SdkSession
from farhand.testing.desk import piloted
from farhand.testing.models.gemini import FakeGemini, says
from farhand.tui.app import TerminalApp

pytestmark = pytest.mark.anyio
# What `farhand tui` loads before its first screen.
FIRST = (
    "import farhand.cli.tui, farhand.cli.tui_opening, farhand.cli.remote_control, farhand.config.taken_secrets, "
    "farhand.tui.app, farhand.tui.short_collections, farhand.tui.typed_session"
)
LATER = {"structlog", "markdown_it", "pygments.lexers", "httpx2", "starlette", "yaml"}
LATER |= {"farhand.sdk", "farhand.client", "farhand.server", "farhand.drivers", "farhand.channels", "farhand.core"}


def test_the_first_screen_loads_nothing_that_it_does_not_show() -> None:
    assert imported_by(FIRST) & LATER == set()


async def test_what_is_typed_before_the_agent_is_there_waits_for_it(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("Here I am."))
    loaded = anyio.Event()

    async def opening() -> AgentDesk:
        await loaded.wait()
        agent = make_agent()
        return AgentDesk(SdkSession(agent, agent.session(), sdk_action, time.time))

    desk = OpeningDesk("farhand", opening)
    app = TerminalApp(desk, ready=desk.set_ready)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        async with piloted(app) as pilot:
            person = Shown(app, pilot)
            await person.type("are you there?")
            await person.see("Type a message")
            assert "are you there?" not in person.text()
            loaded.set()
            await person.see("are you there?")
            await person.see("Here I am.")
            await person.type("/quit")
            await person.until(desk.leaving.is_set)
        tasks.cancel_scope.cancel()


async def test_an_agent_that_cannot_be_made_ends_the_app_with_its_reason() -> None:
    async def opening() -> AgentDesk:
        raise FarhandError("There is no such folder.")

    desk = OpeningDesk("farhand", opening)
    app = TerminalApp(desk, ready=desk.set_ready)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        async with piloted(app) as pilot:
            await Shown(app, pilot).until(lambda: not app.is_running)
    assert desk.problem is not None
    assert desk.problem.text == "There is no such folder."
