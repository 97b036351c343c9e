"""Agents that are ended together with their node: the next start starts them again, without a word and without loss."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from farhand.cli.end_node import end_held
from farhand.drivers.demo.driver import DemoDriver
from farhand.drivers.wires.holder.process import ENDED_WITH_NODE
from farhand.model.facts import AskRaised, CameOnline, Doubted, Fact, Noted, TurnEnded, WentOffline
from farhand.model.words import HowEnded
from farhand.sandbox.holders import LocalHolders
from farhand.testing.house import House, open_house
from farhand.testing.leftovers import end_agents

pytestmark = pytest.mark.anyio


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[DemoDriver]:
    """The demo agent, in a hurry."""
    holders, environment = LocalHolders(tmp_path / "holders"), {"PATH": os.environ["PATH"]}
    yield DemoDriver(holders, python=sys.executable, environment=environment, arguments=["0"])
    await end_agents(tmp_path)


async def stop_agents(folder: Path) -> list[str]:
    """As `farhand stop` and `run --end-workers` do, when the node is gone."""
    return await anyio.to_thread.run_sync(end_held, folder / "holders")


async def news(house: House) -> list[Fact]:
    """What was written since the node was started."""
    return [event.fact for event in await house.history() if event.seq > house.started]


async def test_an_agent_that_was_ended_with_its_node_starts_again_without_a_word(
    tmp_path: Path, demo: DemoDriver
) -> None:
    async with open_house(tmp_path, drivers={"demo": demo}) as house:
        await house.hire("ann", "demo")
        await house.say("help", "ann")
        await house.event(TurnEnded)
    for _ in range(2):
        assert await stop_agents(tmp_path) == ["ann"]
        async with open_house(tmp_path, drivers={"demo": demo}) as house:
            # In the very moment in which the node looks for its agents.
            await house.say("one two", "ann")
            assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
            told = [fact for fact in await news(house) if isinstance(fact, Noted | Doubted | WentOffline | CameOnline)]
            assert told == []


async def test_a_turn_that_was_ended_with_its_node_says_so_and_the_next_one_runs(
    tmp_path: Path, demo: DemoDriver
) -> None:
    async with open_house(tmp_path, drivers={"demo": demo}) as house:
        await house.hire("ann", "demo")
        await house.say("ask", "ann")
        await house.event(AskRaised)
        await house.say("one two", "ann")
    assert await stop_agents(tmp_path) == ["ann"]
    async with open_house(tmp_path, drivers={"demo": demo}) as house:
        first = await house.event(TurnEnded)
        assert first.fact == TurnEnded(how=HowEnded.FAILED, error=ENDED_WITH_NODE, can_retry=True)
        assert (await house.fact(TurnEnded, after=first.seq)).how is HowEnded.COMPLETED
        assert house.worker().asks == ()
        assert not any(isinstance(fact, Noted | Doubted | WentOffline) for fact in await news(house))


async def test_an_agent_that_was_killed_while_no_node_ran_is_told_of(tmp_path: Path, demo: DemoDriver) -> None:
    async with open_house(tmp_path, drivers={"demo": demo}) as house:
        await house.hire("ann", "demo")
        await house.say("help", "ann")
        await house.event(TurnEnded)
    holders = LocalHolders(tmp_path / "holders")
    (name,) = await holders.names()
    found = await holders.attach(name)
    assert found is not None
    async with found as held:
        await held.signal("KILL")
        await held.wait_exit()
    async with open_house(tmp_path, drivers={"demo": demo}) as house:
        assert await house.fact(Noted) == Noted(text="The agent was killed by signal 9.")
        gone = await house.event(WentOffline)
        await house.event(CameOnline, after=gone.seq)
