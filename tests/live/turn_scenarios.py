"""What becomes of a turn that does not end well, alike for every agent's CLI: it is stopped, or a limit parks it."""

from __future__ import annotations

from farhand.model.commands import Retry
from farhand.model.facts import Limited, Said, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.house import House


async def a_stopped_turn_makes_room(house: House, message: str) -> None:
    """Stops the turn that runs; the next message is answered."""
    await house.interrupt()
    ended = await house.event(TurnEnded)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.INTERRUPTED
    await house.say(message)
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED


async def a_limit_parks_the_message_and_a_try_brings_it_once(
    house: House, message: str, limit: str, answer: str
) -> None:
    """The agent meets its limit with these words; the message waits, and is answered when it is tried again."""
    await house.say(message)
    parked = await house.event(TurnEnded)
    assert isinstance(parked.fact, TurnEnded)
    assert parked.fact.how is HowEnded.PARKED
    assert limit in parked.fact.error
    assert limit in (await house.fact(Limited)).text
    assert house.worker().state_at(0.0) == "limited"
    await house.send(Retry(id="now", worker="ann"))
    assert (await house.fact(TurnEnded, after=parked.seq)).how is HowEnded.COMPLETED
    assert house.worker().queue == ()
    told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
    assert "".join(told) == answer
