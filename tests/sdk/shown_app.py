"""A person before the terminal app, with Textual's pilot."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from textual.pilot import Pilot
from textual.selection import SELECT_ALL

from farhand.cli.remote_control import sdk_action
from farhand.cli.tui_agent import AgentDesk
from farhand.model.live_session import SessionName
from farhand.remote.sdk_session import SdkSession
from farhand.sdk.agent import Agent
from farhand.testing.desk import ScriptedDesk, ScriptedSession, piloted
from farhand.tui.app import TerminalApp
from farhand.tui.candidates import PromptCandidates
from farhand.tui.prompt import PromptInput
from farhand.tui.transcript import MOST

SAFETY_SECONDS = 240.0


class Shown:
    """A person before the app."""

    def __init__(self, app: TerminalApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def prompt(self) -> PromptInput:
        return self.app.prompt

    async def type(self, text: str) -> None:
        """Types and sends it."""
        self.prompt.set_text(text)
        await self.pilot.press("enter")

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until the screen is so."""
        with anyio.move_on_after(SAFETY_SECONDS):
            while not true():
                await self.pilot.pause(0.01)
        assert true(), f"the screen shows:\n{self.text()}"

    @property
    def candidates(self) -> list[str]:
        """What can be chosen from, above the input."""
        return self.app.query_one(PromptCandidates).offered

    def text(self) -> str:
        """What the screen shows, read as a person does."""
        strips = self.app.screen._compositor.render_strips()
        # But for the scrollbar.
        return "\n".join(strip.text[:-2].rstrip() for strip in strips)

    def laid_out(self) -> str:
        """What one could scroll to without anything coming in."""
        found = self.app.transcript.get_selection(SELECT_ALL)
        return found[0] if found else ""

    def is_bounded(self) -> bool:
        """Whether few rows are laid out, however long the conversation is."""
        return self.app.transcript.row_count <= (MOST + 4) * self.app.size.height

    async def see(self, text: str) -> None:
        """Waits until that is on the screen."""
        await self.until(lambda: text in self.text())


@asynccontextmanager
async def shown(
    session: ScriptedSession, *names: SessionName, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Shown]:
    desk = ScriptedDesk(session, names)
    app = TerminalApp(desk, ready=session.set_ready)
    async with piloted(app, size=size) as pilot:
        opened = Shown(app, pilot)
        await opened.until(lambda: session.log.status.ready)
        yield opened


@asynccontextmanager
async def agent_shown(
    agent: Agent, *, notifications: bool = False
) -> AsyncIterator[tuple[Shown, SdkSession, AgentDesk]]:
    """The app over a real agent."""
    async with anyio.create_task_group() as tasks:
        session = SdkSession(agent, agent.session(), sdk_action, time.time)
        desk = AgentDesk(session)
        tasks.start_soon(desk.run)
        app = TerminalApp(desk, ready=session.set_ready)
        async with piloted(app, notifications=notifications) as pilot:
            person = Shown(app, pilot)
            await person.until(lambda: session.log.status.ready)
            yield person, session, desk
        tasks.cancel_scope.cancel()
