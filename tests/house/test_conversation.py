"""A conversation with a team in a terminal: who speaks, what is asked, what is refused, and how it ends."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

import anyio
import pytest

from farhand.cli.conversation import TerminalConversation
from farhand.cli.terminal import PlainTerminal
from farhand.model.facts import AskRaised, AskSettled, Said, SteerAsked, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.words import Choice
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))


class Desk:
    """Somebody who types, and a paper on which everything is printed."""

    def __init__(self, keyboard: TextIO, paper: TextIO) -> None:
        self._keyboard = keyboard
        self._paper = paper

    def type(self, line: str) -> None:
        """Types a line and Enter."""
        self._keyboard.write(line + "\n")
        self._keyboard.flush()

    async def see(self, text: str) -> None:
        """Waits until this was printed."""
        while text not in self.text:  # noqa: ASYNC110 - paper cannot call back
            await anyio.sleep(0.002)

    def leave(self) -> None:
        """Ctrl-D."""
        self._keyboard.close()

    @property
    def text(self) -> str:
        """All that was printed."""
        self._paper.seek(0)
        return self._paper.read()


@asynccontextmanager
async def talking(house: House) -> AsyncIterator[Desk]:
    """A conversation that runs while the context is open, and ends when the desk is left."""
    reading, keyboard = os.pipe()
    with (
        os.fdopen(reading) as inside,
        os.fdopen(keyboard, "w") as outside,
        open(os.memfd_create("paper"), "w+") as paper,  # noqa: PTH123 - memory, not a disk
        anyio.fail_after(SAFETY_SECONDS),
    ):
        desk = Desk(outside, paper)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(TerminalConversation(house.hub, PlainTerminal(inside, paper)).run)
            yield desk
            desk.leave()


async def test_who_speaks_is_named_and_what_is_refused_is_told(house: House) -> None:
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("hello")
        await house.fact(TurnEnded)
        desk.type("@nobody hello")
        desk.type("/nonsense")
        await desk.see("✗ '/nonsense' is nothing that can be done here; /help tells what can.")
        answer = await house.fact(Said)
        await desk.see(f"\nann: {answer.text}")
        await desk.see("\n✗ No worker called 'nobody'. The team: ann.\n")


async def test_the_inbox_is_told_here_as_well(house: House) -> None:
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("/inbox")
        await desk.see("Nothing waits for you.")


async def test_a_question_is_answered_by_its_number(house: House) -> None:
    house.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO))
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("clean up")
        await desk.see("? ann asks: Run it?\n  In: ")
        await desk.see("  Risk: unknown: nobody here can tell what this does.\n  1. Yes\n  2. No\n")
        desk.type("2 not today")
        await desk.see("→ No (“not today”)")
    settled = await house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("no", "not today")


async def test_a_question_that_waits_is_shown_to_whoever_comes_later(house: House) -> None:
    house.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO))
    await house.hire("ann")
    await house.say("clean up")
    await house.event(AskRaised)
    async with talking(house) as desk:
        await desk.see("? ann asks: Run it?")
        desk.type("1")
        await desk.see("→ Yes, ")


async def test_a_message_for_a_busy_worker_waits_and_is_told_so(house: House) -> None:
    house.agent.plays(Said(text="thinking"))
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("first")
        await desk.see("ann: thinking")
        desk.type("second")
        await desk.see("ann is busy: your message waits. /queue shows it.\n")
        desk.type("/team")
        await desk.see("› ann (working, backend=scripted, 1 queued)")
        desk.type("/edit 1 the  second")
        await house.until(lambda present: present.workers["ann"].queue[0].text == "the  second")
        desk.type("/queue")
        await desk.see("\n1. ann: the second\n")
        desk.type("/drop 1")
        await desk.see("Taken back from ann: “the second”.")
        desk.type("/drop 1")
        await desk.see("✗ No message for ann waits under the number 1")
        desk.type("third")
        await house.until(lambda present: len(present.workers["ann"].queue) == 1)
        desk.type("/now 1")
        await house.event(SteerAsked)


async def test_stop_and_take_back_are_orders_in_the_terminal_too(house: House) -> None:
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("stop")
        await desk.see("Nothing of ann's runs or waits. Shall ann be told “stop”? s: say it.")
        house.agent.plays(Said(text="thinking"))
        desk.type("first")
        await desk.see("ann: thinking")
        desk.type("take it back")
        await desk.see("Nothing waits for ann any more: it is at “first”. Shall ann be told “take it back”? x: stop it")
        desk.type("second")
        await desk.see("ann is busy: your message waits.")
        desk.type("third")
        await house.until(lambda present: len(present.workers["ann"].queue) == 2)
        desk.type("take it back")
        await desk.see("Taken back from ann: “third”.")
        desk.type("stop")
        await desk.see("What ann was at is being stopped, and nothing goes on by itself: say what comes next.")
        await desk.see("Taken back, for ann had not begun: “second”.")
        await desk.see("s: say it to ann after all.")
        await desk.see("ann: ■ stopped")
        assert told(house) == ["first"]
        desk.type("s")
        await desk.see("answer to second")
    assert told(house) == ["first", "second"]


def told(house: House) -> list[str]:
    """What the agents were given."""
    return [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]


async def test_leaving_leaves_the_team_as_it_is(house: House) -> None:
    await house.hire("ann")
    async with talking(house) as desk:
        desk.type("/quit")
    assert house.worker("ann").online
