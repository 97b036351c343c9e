"""A node's team in the terminal app: every worker is a conversation, whoever speaks to it and from wherever."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.house.desk_folders import in_made_folders
from textual.pilot import Pilot

from farhand.cli.remote_control import remote_control
from farhand.cli.tui_team import TeamDesk
from farhand.model.commands import Accepted, Command
from farhand.model.errors import BadInput, NodeUnreachable
from farhand.model.facts import (
    AskRaised,
    Said,
    SprintBegan,
    SprintEnded,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from farhand.model.live_session import Role
from farhand.model.ports import Deliver, SessionFound
from farhand.model.words import Choice, HowEnded, Sender
from farhand.testing.desk import piloted
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client
from farhand.tui.app import TerminalApp
from farhand.tui.typed_session import TypedSession

pytestmark = pytest.mark.anyio
CHOICES = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False, words=True))


class TeamScreen:
    """A person before the app, with a team."""

    def __init__(self, app: TerminalApp, pilot: Pilot[None], desk: TeamDesk) -> None:
        self.app, self.pilot, self.desk = app, pilot, desk

    async def type(self, text: str) -> None:
        """Types and sends it."""
        self.app.prompt.set_text(text)
        await self.pilot.press("enter")

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until it is so."""
        with anyio.move_on_after(SAFETY_SECONDS):
            while not true():
                await self.pilot.pause(0.01)
        assert true(), f"the screen shows:\n{self.text()}"

    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def see(self, text: str) -> None:
        """Waits until that is on the screen."""
        await self.until(lambda: text in self.text())


@asynccontextmanager
async def team_screen(house: House, hub: Any = None) -> AsyncIterator[TeamScreen]:
    """The app over the house's hub, or that one."""
    desk = TeamDesk(hub or house.hub, Sender(via="tui"))
    await desk.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        app = TerminalApp(desk, ready=desk.set_ready)
        async with piloted(app, size=(120, 30)) as pilot:
            yield TeamScreen(app, pilot, desk)
        tasks.cancel_scope.cancel()


async def test_a_worker_is_talked_to_and_what_others_say_is_shown(house: House) -> None:
    await house.hire("ann")
    await house.say("before")
    await house.event(TurnEnded)
    async with team_screen(house) as person:
        await person.see("answer to before")
        await person.type("hello")
        await person.see("answer to hello")
        await house.say("from the phone", via="telegram")
        await person.see("answer to from the phone")
        said = [one.text for one in person.desk.session.log.messages]
    expected = ["before", "hello", "from the phone"]
    assert said == [text for word in expected for text in (word, f"answer to {word}")]


@pytest.mark.parametrize("stop", ["escape", "stop"])
async def test_a_stop_takes_back_what_waits_and_names_it(house: House, stop: str) -> None:
    await house.hire("ann")
    async with team_screen(house) as person:
        with pytest.raises(BadInput, match="Shall ann be told “stop”"):
            await person.desk.submit("stop")
        house.agent.plays(Said(text="thinking"))
        await person.type("first")
        await person.see("thinking")
        await person.type("second")
        await house.until(lambda present: len(present.workers["ann"].queue) == 1)
        await (person.pilot.press(stop) if stop == "escape" else person.type(stop))
        await person.see("Taken back, for ann had not begun: “second”.")
        await house.until(lambda present: present.workers["ann"].turn is None)
    told = [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]
    assert told == ["first"]


async def test_a_stop_for_everybody_stops_those_who_work_and_is_said_to_nobody(house: House) -> None:
    for name in ("ann", "bob", "cid"):
        await house.hire(name)
    async with team_screen(house) as person:
        with pytest.raises(BadInput, match="Nobody is at anything"):
            await person.desk.submit("@all stop")
        for name in ("ann", "bob"):
            house.agent.plays(Said(text="thinking"))
            await house.say("go on", worker=name)
            await house.until(lambda present, name=name: bool(present.workers[name].turn))  # type: ignore[misc]
        await person.until(lambda: sum(one.state != "available" for one in person.desk.names) == 2)
        await person.desk.submit("@all stop")
        await house.until(lambda present: not any(one.turn for one in present.workers.values()))
    told = [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]
    assert told == ["go on", "go on"]


async def test_another_worker_is_chosen_and_what_was_not_read_is_counted(house: House) -> None:
    await house.hire("ann")
    await house.hire("ben")
    async with team_screen(house) as person:
        await person.see("● ben")
        await person.until(lambda: person.desk.title == "ben")
        await house.say("psst", worker="ann")
        await person.see("ann (1)")
        await person.pilot.press("ctrl+n")
        await person.see("answer to psst")
        assert "ann (1)" not in person.text()
        await person.type("/ben hi ben")
        await person.see("answer to hi ben")
        await person.type("@ann over there")
        await house.event(TurnEnded, lambda event: event.worker == "ann" and event.seq > house.started)
        await person.type("/team")
        await person.see("ann")


async def test_a_command_without_a_name_is_for_the_worker_that_is_shown(house: House) -> None:
    await house.hire("ann")
    await house.hire("ben")
    async with team_screen(house) as person:
        await person.until(lambda: person.desk.title == "ben")
        await person.pilot.press("ctrl+n")
        await person.until(lambda: person.desk.title == "ann")
        # The phone's focus is on the one who was hired last.
        assert (await house.hub.look()).focus == "ben"
        await person.type("/sprint start\n- one task")
        began = await house.event(SprintBegan)
        assert began.worker == "ann"
        await person.type("/sprint stop")
        assert (await house.event(SprintEnded)).worker == "ann"


async def test_how_a_sprint_and_the_reviews_of_a_worker_stand_is_told(house: House) -> None:
    await house.hire("ann")
    async with team_screen(house) as person:
        await person.until(lambda: person.desk.title == "ann")
        await person.type("/sprint status")
        await person.see("ann is at no sprint.")
        await person.type("/review ann status")
        await person.see("Nobody has judged ann's work yet.")


async def test_a_question_of_a_worker_is_answered(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(
        Thought(text="Careful."),
        ToolStarted(call="1", tool="shell", title="Run: make"),
        AskRaised(ask="a1", question="Run: make all", choices=CHOICES, detail="make all"),
    )
    async with team_screen(house) as person:
        await person.type("build")
        await person.see("1. Allow once")
        await person.pilot.press("1")
        await person.until(lambda: not person.desk.session.log.asks)
        link = house.agent.links["ann"]
        await link.say(ToolEnded(call="1", output="made"))
        await link.say(Said(text="Built."))
        await link.say(TurnEnded(how=HowEnded.COMPLETED))
        await person.see("Built.")
        await person.see("✓ Run: make")


async def test_programs_drive_the_worker_that_is_shown(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    async with team_screen(house) as person:
        typed = TypedSession(person.desk, may_allow=False)
        async with (
            remote_control(lambda _: typed, 0, tmp_path) as port,
            local_client(base_url=f"http://127.0.0.1:{port}", timeout=SAFETY_SECONDS) as outside,
        ):
            assert (await outside.post("/message", json={"message": "hello"})).status_code == 200
            assert (await outside.get("/history")).json()[0] == {"role": "user", "text": "hello"}
            await person.see("answer to hello")
            for refused in (
                "/end ann",
                '/sprint start --verify "touch pwned"\n- hello',
                "/relaunch",
                "/quit",
                "/mode yolo",
                # What the agent's own program would take for an order, as `farhand remote` does not pass it on either.
                "/ann /permissions",
                "!touch pwned",
                "# remember this",
            ):
                assert (await outside.post("/message", json={"message": refused})).status_code == 403


def _given(session: TypedSession, _: object) -> TypedSession:
    return session


async def test_a_program_without_a_key_permits_nothing_to_a_worker_that_is_not_shown(
    house: House, tmp_path: Path
) -> None:
    await house.hire("bob")
    await house.hire("ann")
    house.agent.plays(AskRaised(ask="a1", question="Run: make all", choices=CHOICES, detail="make all"))
    async with team_screen(house) as person:
        await person.desk.select("ann")
        await house.say("build", worker="bob")
        await house.event(AskRaised)
        for key in ("", "the terminal's own"):
            typed = TypedSession(person.desk, may_allow=bool(key))
            async with (
                remote_control(partial(_given, typed), 0, tmp_path, key) as port,
                local_client(
                    base_url=f"http://127.0.0.1:{port}",
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                    trust_env=False,
                    timeout=SAFETY_SECONDS,
                ) as outside,
            ):
                assert (await outside.post("/asks/a1", json={"choice": "allow"})).status_code == 404
        assert (await house.hub.look()).workers["bob"].asks[0].settled is None


async def test_an_empty_team_says_how_to_begin(house: House) -> None:
    async with team_screen(house) as person:
        await person.see("/hire <name>")
        await person.type("/hire ann --backend scripted")
        await person.until(lambda: person.desk.title == "ann")
        await person.type("hello")
        await person.see("answer to hello")


async def test_a_conversation_of_the_nodes_machine_is_chosen_and_taken_up(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    house.agent.conversations = in_made_folders(
        tmp_path,
        SessionFound(id="aaaa-old", directory="shop", title="the shop", at=1.0, open=False),
        SessionFound(id="bbbb-new", directory="garden", title="roses", at=2.0, open=True),
    )
    async with team_screen(house) as person:
        await person.type("/sessions")
        await person.see("roses")
        await person.see("open at the desk")
        await person.pilot.press(*"shop", "enter")
        await person.until(lambda: person.desk.title == "shop")
        assert (await house.hub.look()).workers["shop"].session == "aaaa-old"
        await person.type("hello")
        await person.see("answer to hello")
        # What a worker has is shown; what is open at a desk is taken over by a word of one's own, and by no Enter.
        await person.pilot.press("ctrl+n")
        await person.until(lambda: person.desk.title == "ann")
        await person.type("/adopt")
        await person.see("shop has it")
        await person.pilot.press("down", "enter")
        await person.until(lambda: person.desk.title == "shop")
        await person.type("/sessions scripted garden")
        await person.see("roses")
        await person.pilot.press("enter")
        await person.until(lambda: person.app.prompt.text == "/adopt scripted bbbb-new --anyway")
        assert set((await house.hub.look()).workers) == {"ann", "shop"}


class CutHub:
    """The house's hub over a line that is cut once, behind what was sent and before the answer."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.is_cut = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._house.hub, name)

    async def send(self, command: Command, sender: Sender) -> Accepted:
        accepted = await self._house.hub.send(command, sender)
        if self.is_cut:
            self.is_cut = False
            raise NodeUnreachable("The node closed the connection.")
        return accepted


async def test_what_is_said_again_after_a_cut_is_said_once(house: House) -> None:
    await house.hire("ann")
    async with team_screen(house, CutHub(house)) as person:
        await person.type("hello")
        # It is there again, for nobody knows whether it was heard.
        await person.until(lambda: person.app.prompt.text == "hello")
        await person.pilot.press("enter")
        await person.see("The node had that already")
        await person.see("answer to hello")
        await person.type("and now?")
        await person.see("answer to and now?")
        said = [one.text for one in person.desk.session.log.messages if one.role is Role.USER]
    assert said == ["hello", "and now?"]


async def test_a_program_follows_what_the_screen_shows(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    await house.hire("ben")
    await house.say("to ann", worker="ann")
    await house.event(TurnEnded)
    async with team_screen(house) as person:
        typed = TypedSession(person.desk, may_allow=False)
        async with (
            remote_control(lambda _: typed, 0, tmp_path) as port,
            local_client(base_url=f"http://127.0.0.1:{port}", timeout=SAFETY_SECONDS) as outside,
            outside.stream("GET", "/events") as response,
        ):
            lines = response.aiter_lines()
            assert [await anext(lines), await anext(lines)][1].startswith('data: {"resume":"whole"')
            await person.desk.select("ann")
            told = ""
            while "answer to to ann" not in told:
                told += await anext(lines)
            assert 'event: resumedata: {"resume":"gap"' in told
