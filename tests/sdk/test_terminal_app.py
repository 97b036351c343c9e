"""The terminal app with Textual's pilot: what is typed, what is shown, what stays where it is."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.sdk.conftest import MakeAgent
from textual.pilot import Pilot

from farhand.cli.remote_control import remote_control, sdk_action
from farhand.cli.tui_agent import AgentDesk, file_completions
from farhand.model.action import run
from farhand.model.asking import as_shown
from farhand.model.facts import AskRaised
from farhand.model.live_session import MessageState, Role, SessionName, SessionPart
from farhand.model.present import Ask, raised_ask
from farhand.model.words import Choice
from farhand.remote.sdk_session import SdkSession
from farhand.sdk.agent import Agent
from farhand.testing.desk import ScriptedDesk, ScriptedSession
from farhand.testing.models.gemini import FakeGemini, calls, held, says
from farhand.tui.app import TerminalApp
from farhand.tui.look import DARK, LIGHT, theme_name
from farhand.tui.prompt import PromptInput
from farhand.tui.shown_text import printed
from farhand.tui.transcript import MOST, MessageView
from farhand.tui.typed_session import TypedSession

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0
CHOICES = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False, words=True))


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
        with anyio.fail_after(SAFETY_SECONDS):
            while not true():
                await self.pilot.pause(0.01)

    def text(self) -> str:
        """What the screen shows, read as a person does."""
        strips = self.app.screen._compositor.render_strips()
        # But for the scrollbar.
        return "\n".join(strip.text[:-2].rstrip() for strip in strips)

    async def see(self, text: str) -> None:
        """Waits until that is on the screen."""
        await self.until(lambda: text in self.text())


@asynccontextmanager
async def shown(
    session: ScriptedSession, *names: SessionName, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Shown]:
    desk = ScriptedDesk(session, names)
    app = TerminalApp(desk, ready=session.set_ready)
    async with app.run_test(size=size) as pilot:
        opened = Shown(app, pilot)
        await opened.until(lambda: session.log.status.ready)
        yield opened


@asynccontextmanager
async def agent_shown(agent: Agent) -> AsyncIterator[tuple[Shown, SdkSession, AgentDesk]]:
    """The app over a real agent."""
    async with agent, agent.session() as opened, anyio.create_task_group() as tasks:
        session = SdkSession(agent, opened, sdk_action, time.time)
        desk = AgentDesk(session)
        tasks.start_soon(session.run)
        app = TerminalApp(desk, ready=session.set_ready)
        async with app.run_test() as pilot:
            person = Shown(app, pilot)
            await person.until(lambda: session.log.status.ready)
            yield person, session, desk
        tasks.cancel_scope.cancel()


def an_ask(command: str = "make all\nrm -r build") -> Ask:
    raised = AskRaised(ask="a1", question="Run: make all", choices=CHOICES, detail=command, action=run(command))
    return raised_ask(as_shown(raised, "/home/ann"), "ann", None, 1, None)


async def test_a_person_types_and_reads_the_answer(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("Hello **you**."))
    async with agent_shown(make_agent()) as (person, _, _):
        await person.type("hi there")
        await person.see("hi there")
        await person.see("Hello you.")


async def test_a_program_outside_types_and_the_screen_shows_it(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    """The document's automated check: post a message, find it on the screen and in the history."""
    fake.expect(says("Three files."))
    async with agent_shown(make_agent()) as (person, _, desk):
        typed = TypedSession(desk, may_allow=False)
        async with (
            remote_control(lambda _: typed, 0, tmp_path) as port,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=SAFETY_SECONDS) as outside,
        ):
            posted = await outside.post("/message", json={"message": "list files"})
            assert posted.status_code == 200
            assert (await outside.get("/history")).json()[0] == {"role": "user", "text": "list files"}
            await person.see("list files")
            await person.see("Three files.")
            told = await outside.post("/message", json={"message": "/help"})
            assert told.status_code == 200
            await person.see("/quit")
            assert len((await outside.get("/history")).json()) == 2
            assert (await outside.post("/message", json={"message": "/mode yolo"})).status_code == 403


async def test_before_the_screen_is_there_nothing_is_taken(make_agent: MakeAgent, tmp_path: Path) -> None:
    agent = make_agent()
    async with agent, agent.session() as opened:
        typed = TypedSession(AgentDesk(SdkSession(agent, opened, sdk_action, time.time)), may_allow=False)
        async with (
            remote_control(lambda _: typed, 0, tmp_path) as port,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as outside,
        ):
            assert (await outside.post("/message", json={"message": "hi"})).status_code == 503
            assert (await outside.get("/history")).json() == []


async def test_during_a_turn_messages_wait_on_the_screen(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One."), says("Two."))
    async with agent_shown(make_agent()) as (person, session, _):
        await person.type("first")
        await person.until(lambda: session.log.status.running)
        await person.type("second")
        await person.see("⋯ 1. second")
        await person.see("1 waiting")
        gate.set()
        await person.see("Two.")
        assert "⋯ 1." not in person.text()


async def test_escape_stops_the_turn(make_agent: MakeAgent, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two", before=1))
    async with agent_shown(make_agent()) as (person, session, _):
        await person.type("count")
        await person.see("One,")
        await person.pilot.press("escape")
        await person.see("⏹ stopped")
        gate.set()
        await person.until(lambda: not session.log.status.running)


async def test_a_permission_shows_the_whole_command_and_a_number_answers() -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        session.log.set_asks((an_ask(),))
        await person.see("rm -r build")
        await person.see("1. Allow once")
        await person.see("Risk:")
        await person.pilot.press("enter")
        assert session.answers == []
        await person.pilot.press("1")
        await person.until(lambda: bool(session.answers))
        assert session.answers == [("a1", "allow", "")]
        await person.until(lambda: "rm -r build" not in person.text() and person.prompt.has_focus)


async def test_a_question_does_not_take_the_keys_of_somebody_who_types() -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        person.prompt.set_text("half a sent")
        session.log.set_asks((an_ask(),))
        await person.see("1. Allow once")
        await person.pilot.press("1")
        assert (person.prompt.text, session.answers) == ("half a sent1", [])


async def test_an_agents_permission_is_denied_with_words(
    make_agent: MakeAgent, fake: FakeGemini, project: Path
) -> None:
    fake.expect(calls("run_shell_command", {"command": "touch made"}), says("As you wish."))
    agent = make_agent(builtin_tools=True, mode="default", interactive=True)
    async with agent_shown(agent) as (person, session, _):
        await person.type("make a file")
        await person.see("touch made")
        await person.until(lambda: bool(session.log.asks))
        person.prompt.focus()
        await person.type("no, use another name")
        await person.see("As you wish.")
    assert not (project / "made").exists()


async def test_what_the_agent_writes_cannot_command_the_terminal() -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        evil = "\x1b]52;c;ZXZpbA==\x07\x1b[2J[bold]not markup[/bold]"
        reply = session.log.add(Role.MODEL, evil).id
        session.log.add_part(reply, SessionPart(kind="tool", call="1", title=f"Run: {evil}", detail=evil, ok=True))
        session.log.add(Role.USER, evil)
        session.log.add(Role.NOTICE, evil)
        await person.see("[bold]not markup[/bold]")
        assert "\x1b" not in person.text()


async def test_who_reads_above_stays_there() -> None:
    session = ScriptedSession()
    for number in range(40):
        session.log.add(Role.MODEL, f"Paragraph {number}.")
    async with shown(session) as person:
        await person.see("Paragraph 39.")
        await person.pilot.press("pageup")
        await person.until(lambda: "Paragraph 39." not in person.text())
        before = person.text().splitlines()[1:10]
        reply = session.log.add(Role.MODEL, "", MessageState.RUNNING).id
        for number in range(30):
            session.log.append(reply, "text", f"New line {number}.\n\n")
        await person.until(lambda: any(view.message.text.endswith("29.") for view in person.app.query(MessageView)))
        await person.pilot.pause()
        assert person.text().splitlines()[1:10] == before
        await person.pilot.press("ctrl+end")
        await person.see("New line 29.")


async def test_a_long_conversation_shows_its_end_and_the_rest_on_the_way_up() -> None:
    session = ScriptedSession()
    for number in range(5000):
        session.log.add(Role.USER if number % 2 else Role.MODEL, f"Message {number} of many.")
    async with shown(session) as person:
        await person.see("Message 4999 of many.")
        assert len(person.app.query(MessageView)) <= MOST
        with anyio.fail_after(SAFETY_SECONDS):
            while min(int(number) for number in re.findall(r"Message (\d+) of", person.text())) > 4950:
                await person.pilot.press("pageup")
        await person.pilot.press("ctrl+end")
        await person.see("Message 4999 of many.")


async def test_tools_and_thoughts_are_folded_and_open_together() -> None:
    session = ScriptedSession()
    reply = session.log.add(Role.MODEL, "").id
    session.log.append(reply, "thought", "Look first.\nThen leap.")
    session.log.add_part(reply, SessionPart(kind="tool", call="1", title="Run: ls", detail="ls -l"))
    session.log.end_tool(reply, "1", ok=True, output="a.txt")
    async with shown(session) as person:
        await person.see("✓ Run: ls")
        assert "a.txt" not in person.text()
        await person.pilot.press("ctrl+o")
        await person.see("a.txt")
        await person.see("Then leap.")


async def test_lines_commands_files_and_what_was_said(tmp_path: Path) -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        await person.pilot.press("a", "ctrl+j", "b", "enter")
        await person.until(lambda: bool(session.log.messages))
        assert session.log.messages[0].text == "a\nb"
        await person.pilot.press("/", "q", "u")
        await person.see("/queue")
        await person.see("/quit")
        await person.pilot.press("tab")
        assert person.prompt.text == "/queue"
        await person.pilot.press("ctrl+c", "up", "up")
        assert person.prompt.text == "a\nb"
    (tmp_path / "notes.md").touch()
    (tmp_path / "news").mkdir()
    assert [one.text for one in file_completions("@n", tmp_path)] == ["@news/", "@notes.md"]
    assert file_completions("@~nobody-of-that-name/x", tmp_path) == []


async def test_the_commands_of_one_agent(make_agent: MakeAgent) -> None:
    async with agent_shown(make_agent()) as (person, session, desk):
        await person.type("/mode plan")
        await person.see("mode plan")
        assert session.agent.mode == "plan"
        await person.type("/usage")
        await person.see("0 tokens so far.")
        await person.type("/nonsense")
        await person.until(lambda: person.prompt.text == "/nonsense")
        await person.pilot.press("ctrl+c")
        assert session.log.status.queued == 0
        await person.type("/quit")
        await person.until(desk.leaving.is_set)


async def test_the_team_stands_beside_a_wide_conversation() -> None:
    session = ScriptedSession()
    names = (SessionName(name="ann", state="working", unread=2), SessionName(name="ben", state="waiting"))
    async with shown(session, *names, size=(140, 40)) as person:
        await person.see("ann (2)")
        await person.pilot.press("ctrl+t", "down", "down", "enter")
        desk: Any = person.app._desk
        await person.until(lambda: bool(desk.selected))
        assert desk.selected == ["ben"]
    async with shown(session, *names) as person:
        assert "ann (2)" not in person.text()


def test_the_conversation_is_printed_on_exit() -> None:
    session = ScriptedSession()
    session.log.add(Role.USER, "list\nfiles")
    session.log.add(Role.NOTICE, "Type /help.")
    session.log.add(Role.MODEL, "a.txt\x1b[31m")
    assert printed(session.log.messages) == "› list\n› files\n\na.txt[31m"


@pytest.mark.parametrize(
    ("look", "ground", "name"),
    [("light", "", LIGHT.name), ("auto", "", DARK.name), ("auto", "0;15", LIGHT.name), ("auto", "15;0", DARK.name)],
)
def test_the_colours_are_the_terminals(look: Any, ground: str, name: str) -> None:
    assert theme_name(look, {"COLORFGBG": ground}) == name
