"""A relaunch is tried once: an agent that cannot be started waits for a person."""

import anyio
import pytest

from farhand.model.facts import TurnEnded, WentOffline
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio


async def test_an_agent_that_cannot_be_started_is_not_started_again_and_again(house: House) -> None:
    await house.hire()
    house.agent.refuses_to_open = "No program called 'scripted' was found."
    await house.relaunch("ann")
    await house.event(WentOffline, lambda event: "No program" in event.fact.why)  # type: ignore[union-attr]
    # Whatever the worker still wanted to do, it would have done before these are written.
    for text in ("one", "two", "three"):
        await house.say(text, "ann")
    assert len(house.agent.opened) == 2
    assert not house.worker("ann").relaunching
    house.agent.refuses_to_open = ""
    await house.relaunch("ann")
    with anyio.fail_after(SAFETY_SECONDS):
        await house.event(TurnEnded)
