"""A worker whose agent is gone takes no message, and every surface is told so in the same way."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from farhand.cli.conversation import TerminalConversation
from farhand.cli.terminal import PlainTerminal
from farhand.client.door import SocketHub
from farhand.client.http import HttpHub
from farhand.model.commands import Say
from farhand.model.errors import Offline
from farhand.model.facts import CameOnline, Ended, Event, Said, WentOffline
from farhand.model.ports import Hub
from farhand.model.present import Worker
from farhand.model.words import Sender
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver, ScriptedLink

pytestmark = pytest.mark.anyio
ME = Sender(via="test")
SENTENCE = "ann is offline (No such program). Relaunch it first."


async def offline(house: House) -> None:
    """Ann, whose agent cannot be started."""
    house.agent.refuses_to_open = "No such program."
    await house.hire(online=False)
    await house.fact(WentOffline)


async def test_every_door_refuses_alike(house: House, tmp_path: Path) -> None:
    await offline(house)
    node = house.node
    key = node.settings.key.read_text("utf-8").strip()
    async with SocketHub(node.settings.door) as door, HttpHub(f"http://127.0.0.1:{node.port}", key) as http:
        hubs: tuple[Hub, ...] = (house.hub, door, http)
        for number, hub in enumerate(hubs):
            with pytest.raises(Offline) as refused:
                await hub.send(Say(id=f"s{number}", text="hello"), ME)
            assert refused.value.text == SENTENCE
            assert refused.value.details == {"worker": "ann", "why": "No such program."}
    paper, typed = io.StringIO(), tmp_path / "typed"
    typed.write_text("hello\n", "utf-8")
    with typed.open() as keyboard:
        await TerminalConversation(house.hub, PlainTerminal(keyboard, paper)).run()
    assert f"✗ {SENTENCE}" in paper.getvalue()
    assert house.worker().queue == ()


async def test_the_same_command_is_taken_after_a_relaunch(house: House) -> None:
    await offline(house)
    say = Say(id="once", text="hello")
    with pytest.raises(Offline):
        await house.send(say)
    house.agent.refuses_to_open = ""
    relaunched = await house.relaunch()
    assert not (await house.send(say)).again
    await house.event(CameOnline, after=relaunched.seq)
    await house.event(Said, lambda event: event.fact == Said(text="answer to hello"))


async def test_a_hiring_that_fails_gives_back_the_focus_that_it_took(house: House) -> None:
    await house.hire("bob")
    await offline(house)
    gone = await house.fact(WentOffline)
    assert gone.focus == "bob"
    await house.until(lambda present: present.focus == "bob")
    house.agent.refuses_to_open = ""
    await house.relaunch("ann")
    back = await house.fact(CameOnline, lambda event: event.worker == "ann")
    assert (back.focus, house.hub.present.focus) == ("bob", "bob")


async def test_a_hiring_that_fails_keeps_the_focus_that_nobody_else_had(house: House) -> None:
    await offline(house)
    assert (await house.fact(WentOffline)).focus == ""
    assert house.hub.present.focus == "ann"


async def test_one_that_is_starting_takes_messages(house: House) -> None:
    await house.hire(online=False)
    await house.say("hello")
    await house.event(Said, lambda event: event.fact == Said(text="answer to hello"))


async def test_one_that_died_and_is_started_again_takes_messages(house: House) -> None:
    await house.hire()
    link = await house.agent.wait_link("ann")
    seen: list[tuple[bool, bool]] = []

    def look(events: Sequence[Event]) -> None:
        worker = house.worker()
        seen.extend((worker.online, worker.is_offline) for one in events if isinstance(one.fact, WentOffline))

    house.hub.listen(look)
    await link.die()
    gone = await house.event(WentOffline)
    await house.say("hello")
    await house.event(Said, lambda event: event.fact == Said(text="answer to hello"))
    assert seen == [(False, False)]
    back = await house.fact(CameOnline, after=gone.seq)
    assert back.back


async def test_one_that_is_let_go_before_it_could_start_is_not_told_to_wait_on_the_team(tmp_path: Path) -> None:
    agent = SlowToFail()
    async with open_house(tmp_path, agent) as house:
        await house.hire(online=False)
        await agent.opening.wait()
        await house.end("ann")
        agent.fails.set()
        await house.event(Ended)
        gone = [event.fact for event in await house.history() if isinstance(event.fact, WentOffline)]
        assert [one.asked for one in gone] == [True]


class SlowToFail(ScriptedDriver):
    """An agent that cannot start, and takes its time to find out."""

    def __init__(self) -> None:
        super().__init__()
        self.opening, self.fails = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[ScriptedLink]:
        """Fails when the test says so."""
        self.opening.set()
        await self.fails.wait()
        self.refuses_to_open = "No such program."
        async with super().open(worker, cursor) as link:
            yield link
