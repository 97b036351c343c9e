"""A word into a running turn: never lost when the agent does not take it, and the same in memory and on disk."""

import anyio
import pytest

from farhand.model.commands import Say
from farhand.model.facts import HandedOver, Said, TurnEnded
from farhand.model.ports import Deliver, NotTaken
from farhand.model.words import HowEnded
from farhand.testing.house import House

pytestmark = pytest.mark.anyio


async def test_a_word_that_the_running_turn_did_not_take_gets_a_turn_of_its_own(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it"))
    first = await house.say("first")
    await house.event(Said)
    house.agent.outcomes.append(NotTaken(why="Not now."))
    steered = await house.send(Say(id="s", text="and this", steer=True))
    await house.agent.wait_performed(2)
    await house.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=first.message)
    ended = await house.fact(TurnEnded, lambda event: event.turn == steered.message)
    assert ended.how is HowEnded.COMPLETED
    joined = [errand for _, errand in house.agent.performed if isinstance(errand, Deliver) and errand.joins]
    assert len(joined) == 1


async def test_a_word_that_arrived_as_the_turn_ended_is_the_same_in_memory_and_on_disk(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it"))
    first = await house.say("first")
    await house.event(Said)
    gate = house.agent.holds = anyio.Event()
    steered = await house.send(Say(id="s", text="and this", steer=True))
    await house.agent.wait_performed(2)
    await house.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=first.message)
    await house.event(TurnEnded)
    gate.set()
    await house.event(HandedOver, lambda event: event.fact == HandedOver(message=steered.message))
    assert house.worker() == (await house.node.journal.load()).workers["ann"]
