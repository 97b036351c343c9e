"""A relaunch is tried once, and neither it nor an end waits for an agent that takes nothing."""

import anyio
import pytest

from farhand.model.facts import CameOnline, Ended, TurnEnded, WentOffline
from farhand.model.words import Receipt
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio


async def test_an_agent_that_cannot_be_started_is_not_started_again_and_again(house: House) -> None:
    await house.hire()
    house.agent.refuses_to_open = "No program called 'scripted' was found."
    await house.relaunch("ann")
    await house.event(WentOffline, lambda event: house.agent.refuses_to_open in str(event.fact))
    # Whatever the worker still wanted to do, it would have done before these are written.
    for _ in range(3):
        await house.focus("ann")
    assert len(house.agent.opened) == 2
    assert not house.worker("ann").relaunching
    house.agent.refuses_to_open = ""
    await house.relaunch("ann")
    await house.say("one", "ann")
    with anyio.fail_after(SAFETY_SECONDS):
        await house.event(TurnEnded)


async def test_an_agent_that_takes_nothing_can_be_relaunched_and_let_go(house: House) -> None:
    await house.hire()
    house.agent.hangs = True
    await house.say("hello", "ann")
    with anyio.fail_after(SAFETY_SECONDS):
        await house.agent.wait_performed(1)
    relaunched = await house.relaunch("ann")
    await house.event(CameOnline, after=relaunched.seq)
    await house.say("hello again", "ann")
    with anyio.fail_after(SAFETY_SECONDS):
        await house.agent.wait_performed(2)
    await house.end("ann")
    await house.event(Ended)


async def test_a_message_on_its_way_to_an_agent_that_is_relaunched_is_in_doubt(house: House) -> None:
    await house.hire()
    house.agent.hangs = True
    said = await house.say("hello", "ann")
    with anyio.fail_after(SAFETY_SECONDS):
        await house.agent.wait_performed(1)
    await house.relaunch("ann")
    await house.event(TurnEnded)
    assert (await house.node.journal.receipts())[said.message] == Receipt.UNKNOWN
