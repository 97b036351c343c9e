"""Earlier conversations in the terminal app: listed, filtered, taken up in the same app, and never obeyed."""

from __future__ import annotations

import threading

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.shown_app import Shown, agent_shown, shown
from tests.sdk.test_terminal_app import an_ask

from farhand.cli.earlier_sessions import of_agent, of_node
from farhand.model.ports import SessionFound
from farhand.sdk.agent import Agent
from farhand.testing.desk import ScriptedDesk, ScriptedSession
from farhand.testing.models.gemini import FakeGemini, held, says
from farhand.tui.desk import EarlierSession, EarlierSessions
from farhand.tui.session_picker import SessionPicker, found

pytestmark = pytest.mark.anyio
HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J[bold]deploy[/bold]\u202e\nsecond line"
SESSIONS = tuple(
    EarlierSession(id=f"id-{number}", title=title, when=f"{number} hours ago", size=f"{number} messages")
    for number, title in enumerate(("Fix the parser", "Write a test", "Fix the printer", HOSTILE), 1)
)


def desk_of(person: Shown, sessions: tuple[EarlierSession, ...] = SESSIONS) -> ScriptedDesk:
    desk = person.app._desk
    assert isinstance(desk, ScriptedDesk)
    desk.recorded = EarlierSessions(title="Earlier conversations of ~/orchard", sessions=sessions)
    return desk


async def record(agent: Agent, fake: FakeGemini, said: str, answer: str) -> str:
    """Leaves a conversation behind. Returns its id."""
    fake.expect(says(answer))
    async with agent.session() as session:
        await session.send(said)
        return session.id


async def test_an_earlier_conversation_is_taken_up_in_the_same_app(make_agent: MakeAgent, fake: FakeGemini) -> None:
    first = await record(make_agent(), fake, "plant a tree", "It is planted.")
    second = await record(make_agent(), fake, "paint the door", "It is green.")
    fake.expect(says("An oak."))
    agent = make_agent()
    async with agent_shown(agent) as (person, session, desk):
        await person.type("/sessions")
        await person.see("Earlier conversations of")
        await person.see("plant a tree")
        await person.see("paint the door")
        await person.see("2 messages")
        await person.pilot.press(*"TREE")
        await person.until(lambda: "paint the door" not in person.text())
        await person.pilot.press("enter")
        await person.see("It is planted.")
        assert person.prompt.has_focus
        assert desk.session.session.id == first != second
        await person.type("which one?")
        await person.see("An oak.")
        told = [part["text"] for content in fake.last["contents"] for part in content["parts"] if "text" in part]
        assert told[-3:] == ["plant a tree", "It is planted.", "which one?"]
        # The one that was left is closed, and the arrow up has what was said in this one.
        assert not session.session.is_open
        await person.pilot.press("up", "up")
        assert person.prompt.text == "plant a tree"
        # It went on in its own recording: there is no third one.
        assert {one.id: one.messages for one in agent.sessions()} == {first: 4, second: 2}


async def test_arrows_filter_and_back(make_agent: MakeAgent) -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        desk = desk_of(person)
        await person.type("/sessions")
        await person.see("Write a test")
        await person.pilot.press("down", "down", "up", "tab", "enter")
        await person.until(lambda: desk.resumed == ["id-3"])
        assert "Write a test" not in person.text()
        assert person.prompt.has_focus
        await person.type("/sessions")
        await person.see("Write a test")
        await person.pilot.press(*"fix print")
        await person.until(lambda: "1 of 4" in person.text())
        await person.pilot.press("escape")
        await person.until(lambda: "Fix the printer" not in person.text())
        assert (desk.resumed, person.prompt.text, person.prompt.has_focus) == (["id-3"], "", True)
        await person.type("/sessions")
        await person.see("Write a test")
        await person.pilot.press(*"nothing like it")
        await person.see("None of them has these words.")
        await person.pilot.press("down", "pagedown", "enter")
        assert desk.resumed == ["id-3"]
        await person.pilot.press("ctrl+c")
        await person.until(lambda: not person.app.query(SessionPicker))
        assert session.log.messages == ()


async def test_hostile_titles_are_shown_and_not_obeyed() -> None:
    async with shown(ScriptedSession(), size=(140, 24)) as person:
        desk_of(person)
        await person.type("/sessions")
        await person.see("[bold]deploy[/bold]‹U+202E› second line")
        assert "‹U+001B›]52;c;" in person.text()
        assert "\x1b" not in person.text()
        assert "\u202e" not in person.text()
        await person.pilot.resize_terminal(80, 24)
        # However long, it has one line.
        await person.until(lambda: "[bold]deploy" not in person.text())
        assert "second line" not in person.text()


async def test_many_fit_a_small_screen_and_a_click_takes_one() -> None:
    many = tuple(EarlierSession(id=str(number), title=f"Conversation {number} {'x' * 200}") for number in range(300))
    async with shown(ScriptedSession()) as person:
        desk = desk_of(person, many)
        await person.type("/sessions")
        await person.see("Conversation 0")
        await person.see("Enter goes on with it")
        await person.pilot.press("ctrl+end")
        await person.see("Conversation 299")
        await person.pilot.press("pageup")
        await person.until(lambda: "Conversation 278 " in person.text())
        await person.pilot.press("ctrl+home")
        await person.see("Conversation 0 ")
        await person.pilot.click("#picker-list", offset=(10, 2))
        await person.until(lambda: desk.resumed == ["2"])


async def test_a_question_that_comes_meanwhile_takes_no_key_until_it_is_seen() -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        desk = desk_of(person)
        await person.type("/sessions")
        await person.see("Write a test")
        session.log.set_asks((an_ask(),))
        await person.until(lambda: person.app.sheet.ask is not None)
        await person.pilot.press("1")
        assert (session.answers, desk.resumed) == ([], [])
        await person.pilot.press("escape")
        await person.see("1. Allow once")
        await person.pilot.press("1")
        await person.until(lambda: session.answers == [("a1", "allow", "")])


async def test_a_running_turn_is_not_left_behind(make_agent: MakeAgent, fake: FakeGemini) -> None:
    await record(make_agent(), fake, "plant a tree", "It is planted.")
    gate = threading.Event()
    fake.expect(held(gate, "One."))
    async with agent_shown(make_agent(), notifications=True) as (person, session, desk):
        await person.type("count")
        await person.until(lambda: session.log.status.running)
        await person.type("/resume")
        await person.see("plant a tree")
        await person.pilot.press(*"tree", "enter")
        await person.see("The agent is still working")
        assert desk.session is session
        gate.set()
        await person.see("One.")


async def test_nothing_to_resume_is_told(make_agent: MakeAgent) -> None:
    async with agent_shown(make_agent(), notifications=True) as (person, _, _):
        await person.type("/sessions")
        await person.see("There is no earlier")
        assert person.prompt.has_focus


def test_words_are_found_in_titles_ids_and_notes() -> None:
    assert [one.id for one in found(SESSIONS, "FIX the")] == ["id-1", "id-3"]
    assert [one.id for one in found(SESSIONS, "id-2")] == ["id-2"]
    assert found(SESSIONS, "fix test") == []


def test_a_nodes_conversations_tell_whose_they_are() -> None:
    listed = [
        SessionFound(id="a", directory="/srv", title="One", at=1000.0, backend="claude", worker="ann"),
        SessionFound(id="b", directory="/srv", title="Two", at=940.0, backend="codex", open=True),
    ]
    notes = [(one.id, one.when, one.size, one.note) for one in of_node(listed, 1000.0).sessions]
    assert notes == [
        ("claude a", "just now", "claude", "/srv · ann has it"),
        ("codex b", "1 minute ago", "codex", "/srv · open at the desk"),
    ]
    assert of_agent([], "", "~", 0.0).sessions == ()
