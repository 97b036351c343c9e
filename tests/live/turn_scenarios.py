"""What becomes of a turn or an agent that ends badly, alike for every CLI: stopped, parked, killed, relaunched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from farhand.model.commands import Retry
from farhand.model.facts import CameOnline, Limited, Noted, Said, TurnEnded, WentOffline
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


async def a_killed_agent_comes_back(house: House, kill: Callable[[], Awaitable[None]], noted: str = "") -> None:
    """Answers "zz-before", is killed (a note says so, with this word in it) and answers "zz-after" in its next life."""
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    await kill()
    if noted:
        assert noted in (await house.fact(Noted)).text
    offline = await house.event(WentOffline)
    await house.fact(CameOnline, after=offline.seq)
    await house.say("zz-after")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED


async def a_relaunched_worker_goes_on(house: House, answers: str) -> None:
    """Answers "zz-before", is relaunched, and answers "zz-after" in the same session; `answers` is all that it says."""
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    session = house.worker().session
    await house.relaunch("ann")
    await house.fact(CameOnline, after=ended.seq)
    await house.say("zz-after")
    await house.event(TurnEnded, after=ended.seq)
    assert house.worker().session == session
    assert "".join(event.fact.text for event in await house.history() if isinstance(event.fact, Said)) == answers


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
