"""A usage limit parks the queue: nothing is lost, nothing is done twice, and it goes on by itself in time."""

from pathlib import Path

import anyio
import pytest

from farhand.model.commands import Retry
from farhand.model.facts import Limited, LimitLifted, Said, TurnEnded, TurnStarted
from farhand.model.ports import Deliver
from farhand.model.words import HowEnded, Receipt
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
FAILED = TurnEnded(how=HowEnded.FAILED, error="You've hit your limit")


def clock(house: House) -> ManualClock:
    assert isinstance(house.clock, ManualClock)
    return house.clock


def limited(house: House, seconds: float | None) -> Limited:
    return Limited(text="You've hit your limit", until=None if seconds is None else house.clock.now() + seconds)


def told(agent: ScriptedDriver) -> list[str]:
    return [errand.message.id for _, errand in agent.performed if isinstance(errand, Deliver)]


async def park(house: House, seconds: float | None) -> str:
    """A worker that is stopped by a limit at its first message, while a second one waits."""
    await house.hire()
    house.agent.plays(limited(house, seconds), FAILED)
    house.agent.holds = anyio.Event()
    first = (await house.say("first")).message
    await house.say("second")
    house.agent.holds.set()
    house.agent.holds = None
    await house.event(TurnEnded, lambda event: event.turn == first)
    return first


async def test_the_queue_waits_for_the_limit_and_then_goes_on_whole_and_in_order(house: House) -> None:
    first = await park(house, 3600.0)
    third = (await house.say("third")).message
    waiting = house.worker().queue
    assert [one.text for one in waiting] == ["first", "second", "third"]
    assert told(house.agent) == [first]
    assert house.worker().state_at(house.clock.now()) == "limited"
    clock(house).advance(3599.0)
    assert house.worker().resumes_at is not None
    clock(house).advance(1.0)
    await house.event(TurnEnded, lambda event: event.turn == third)
    assert told(house.agent) == [first, *(one.id for one in waiting)]
    assert set((await house.node.journal.receipts()).values()) == {Receipt.ANSWERED}
    history = [event.fact for event in await house.history()]
    assert sum(isinstance(fact, Limited) for fact in history) == 1
    assert [fact.text for fact in history if isinstance(fact, Said)] == [
        "answer to first",
        "answer to second",
        "answer to third",
    ]


async def test_without_a_known_time_it_is_tried_again_after_pauses_that_grow(house: House) -> None:
    first = await park(house, None)
    for pause, turn in ((60.0, f"{first}~2"), (120.0, f"{first}~3")):
        house.agent.plays(limited(house, None), FAILED)
        clock(house).advance(pause - 1.0)
        assert house.worker().resumes_at is not None
        clock(house).advance(1.0)
        await house.event(TurnEnded, lambda event, turn=turn: event.turn == turn)  # type: ignore[misc]
    assert house.worker().queue[0].id == f"{first}~4"
    clock(house).advance(240.0)
    await house.event(TurnEnded, lambda event: event.turn == f"{first}~4")
    assert (await house.until(lambda now: not now.workers["ann"].queue)).workers["ann"].limits == 0


async def test_somebody_may_try_before_the_time(house: House) -> None:
    await park(house, 3600.0)
    await house.send(Retry(id="now", worker="ann"))
    assert (await house.fact(LimitLifted)).by is not None
    await house.until(lambda now: not now.workers["ann"].queue and now.workers["ann"].turn is None)
    assert house.worker().limited is None


async def test_a_relaunch_tries_at_once(house: House) -> None:
    await park(house, 3600.0)
    await house.relaunch("ann")
    await house.until(lambda now: not now.workers["ann"].queue and now.workers["ann"].turn is None)
    assert house.worker().limited is None


async def test_a_parked_queue_outlives_a_restart(tmp_path: Path) -> None:
    time = ManualClock()
    async with open_house(tmp_path, clock=time) as house:
        first = await park(house, 3600.0)
        before = house.worker()
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent, clock=time) as house:
        with anyio.fail_after(SAFETY_SECONDS):
            await agent.wait_opened(1)
        assert (house.worker().queue, house.worker().resumes_at) == (before.queue, before.resumes_at)
        assert told(agent) == []
        time.advance(3600.0)
        await house.event(TurnStarted, lambda event: event.turn == f"{first}~2")
        await house.until(lambda now: not now.workers["ann"].queue and now.workers["ann"].turn is None)
        assert len(told(agent)) == 2
