"""The terminal app with Textual's pilot: what is typed, what is shown, what stays where it is."""

from __future__ import annotations

import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.shown_app import SAFETY_SECONDS, Shown, agent_shown, shown

from farhand.cli.remote_control import remote_control, sdk_action
from farhand.cli.tui_agent import AgentDesk, file_completions
from farhand.model.action import run
from farhand.model.ask_text import as_shown
from farhand.model.errors import BadInput
from farhand.model.facts import AskRaised
from farhand.model.live_session import Role, SessionName, SessionPart
from farhand.model.present import Ask, raised_ask
from farhand.model.words import Choice
from farhand.remote.sdk_session import SdkSession
from farhand.sdk.extensions import extension
from farhand.testing.desk import ScriptedDesk, ScriptedSession
from farhand.testing.http import local_client
from farhand.testing.models.gemini import FakeGemini, calls, held, says
from farhand.tui.app import TerminalApp
from farhand.tui.look import DARK, LIGHT, theme_name
from farhand.tui.shown_text import printed
from farhand.tui.typed_session import TypedSession

pytestmark = pytest.mark.anyio
CHOICES = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False, words=True))


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
            local_client(base_url=f"http://127.0.0.1:{port}", timeout=SAFETY_SECONDS) as outside,
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
            local_client(base_url=f"http://127.0.0.1:{port}") as outside,
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


async def test_what_happens_while_the_screen_is_taken_down_is_not_shown() -> None:
    session = ScriptedSession()
    app = TerminalApp(ScriptedDesk(session), ready=session.set_ready)
    tokens = count(1)

    async def go_on() -> None:
        while app.screen_stack:
            session.log.set_status(tokens=next(tokens))
            await anyio.lowlevel.checkpoint()
        session.log.set_status(tokens=next(tokens))

    async with anyio.create_task_group() as tasks, app.run_test() as pilot:
        await Shown(app, pilot).until(lambda: session.log.status.ready)
        tasks.start_soon(go_on)
    assert not app.screen_stack


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


@pytest.mark.parametrize("stop", ["escape", "stop", "/pause"])
async def test_a_stop_takes_back_what_waits_however_it_is_said(
    make_agent: MakeAgent, fake: FakeGemini, stop: str
) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two", before=1))
    async with agent_shown(make_agent()) as (person, session, _):
        await person.type("count")
        await person.see("One,")
        await person.type("then the door")
        await person.see("⋯ 1. then the door")
        await (person.pilot.press(stop) if stop == "escape" else person.type(stop))
        await person.see("Taken back, for the agent had not begun: “then the door”.")
        await person.see("⏹ stopped")
        gate.set()
        await person.until(lambda: not session.log.status.running)
        assert [one.text for one in session.log.messages if one.role is Role.USER] == ["count"]


async def test_a_stop_is_no_prompt_where_nothing_runs(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("Stop what?"))
    async with agent_shown(make_agent()) as (person, session, _):
        desk = AgentDesk(session)
        with pytest.raises(BadInput, match="Type it once more to say “stop”"):
            await desk.submit("stop")
        assert not [one for one in session.log.messages if one.role is Role.USER]
        await desk.submit("stop")
        await person.see("Stop what?")


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
        # A worker may be named behind it.
        assert person.prompt.text == "/queue "
        await person.pilot.press("ctrl+c", "up", "up")
        assert person.prompt.text == "a\nb"
        await person.pilot.press("ctrl+c", "/", "q", "u", "i", "enter")
        await person.until(lambda: session.log.messages[-1].text == "/quit")
    (tmp_path / "notes.md").touch()
    (tmp_path / "news").mkdir()
    assert [one.text for one in file_completions("@n", tmp_path)] == ["@news/", "@notes.md"]
    assert file_completions("@~nobody-of-that-name/x", tmp_path) == []


async def test_what_was_said_is_searched_as_one_types() -> None:
    session = ScriptedSession()
    for text in ("fix the parser", "write a test", "fix the printer"):
        session.log.add(Role.USER, text)
    async with shown(session) as person:
        await person.pilot.press("ctrl+r")
        await person.until(lambda: person.candidates == ["fix the printer", "write a test", "fix the parser"])
        await person.pilot.press(*"pars")
        await person.until(lambda: person.candidates == ["fix the parser"])
        await person.pilot.press("enter")
        assert person.prompt.text == "fix the parser"
        assert person.candidates == []
        await person.pilot.press("enter")
        await person.until(lambda: len(session.log.messages) == 4)


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


async def test_a_command_that_runs_something_asks_first(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    fake.expect(says("I went."))
    tour = extension(name="x", commands={"tour": "Go to {{args}}: !{touch went.txt; echo now}"})
    async with agent_shown(make_agent(extensions=[tour], mode="default", interactive=True)) as (person, session, _):
        await person.type("/tour Rome")
        await person.see("touch went.txt")
        assert not (project / "went.txt").exists()
        await person.until(lambda: bool(session.log.asks))
        await person.pilot.press("1")
        await person.see("I went.")
        assert fake.last["contents"][-1]["parts"] == [{"text": "Go to Rome: now"}]
        assert session.log.messages[0].text == "/tour Rome"


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
