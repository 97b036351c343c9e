"""A word into a running turn: never lost when the agent does not take it, and the same in memory and on disk."""

from pathlib import Path

import anyio
import pytest

from farhand.model.commands import Say, Steer, Withdraw
from farhand.model.errors import MessageGone
from farhand.model.facts import Doubted, HandedOver, Said, Seen, SteerDeclined, TurnEnded
from farhand.model.ports import Can, Deliver, NotTaken, Unknown
from farhand.model.words import HowEnded
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

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


async def test_a_message_that_waits_can_be_put_into_the_running_turn(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it"))
    first = await house.say("first")
    await house.event(Said)
    waits = await house.say("and this")
    await house.send(Steer(id="n", message=waits.message))
    await house.event(HandedOver, lambda event: event.fact == HandedOver(message=waits.message))
    joined = [errand for _, errand in house.agent.performed if isinstance(errand, Deliver) and errand.joins]
    assert [(errand.turn, errand.message.id) for errand in joined] == [(first.message, waits.message)]
    with pytest.raises(MessageGone):
        await house.send(Steer(id="late", message=waits.message))


async def test_a_kill_while_a_word_is_typed_into_a_turn_types_it_once_and_is_told(tmp_path: Path) -> None:
    agent = ScriptedDriver(can=Can(steer=True))
    agent.plays(Said(text="at it"))
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        await house.say("first")
        await house.event(Said)
        agent.hangs = True
        steered = await house.send(Say(id="s", text="and this", steer=True))
        await agent.wait_performed(2)
        with pytest.raises(MessageGone):
            await house.send(Withdraw(id="w", message=steered.message))
    agent.hangs = False
    async with open_house(tmp_path, agent) as house:
        doubted = await house.fact(Doubted, after=steered.seq)
        assert doubted.message == steered.message
        assert not house.worker().queue
        assert house.worker() == (await house.node.journal.load()).workers["ann"]
        assert len(agent.performed) == 2


async def test_a_doubtful_word_that_arrived_after_all_is_the_same_in_memory_and_on_disk(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it"))
    first = await house.say("first")
    await house.event(Said)
    house.agent.outcomes.append(Unknown(why="Who knows."))
    steered = await house.send(Say(id="s", text="and this", steer=True))
    await house.event(Doubted)
    await house.agent.links["ann"].say(Seen(message=steered.message), turn=first.message)
    await house.event(Seen, lambda event: event.fact == Seen(message=steered.message))
    assert house.worker() == (await house.node.journal.load()).workers["ann"]


async def test_a_word_that_was_not_taken_is_no_doubt_after_a_restart(tmp_path: Path) -> None:
    agent = ScriptedDriver(can=Can(steer=True))
    agent.plays(Said(text="at it"))
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        first = await house.say("first")
        await house.event(Said)
        agent.outcomes.append(NotTaken(why="Not now."))
        steered = await house.send(Say(id="s", text="and this", steer=True))
        await house.event(SteerDeclined)
    async with open_house(tmp_path, agent) as house:
        await agent.wait_performed(3)
        await agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=first.message)
        handed = await house.event(HandedOver, lambda event: event.fact == HandedOver(message=steered.message))
        assert handed.seq > steered.seq


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
