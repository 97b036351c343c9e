"""A store that is slow, or that refuses for a while, costs time: never the node, never a fact."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from farhand.model import errors
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.facts import AskRaised, AskSettled, Ended, Said, TurnEnded
from farhand.model.words import Choice, HowEnded, HowSettled
from farhand.testing import ledger
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.ledger import LedgerChannel

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))
REFUSES = "CREATE TEMP TRIGGER refuses BEFORE INSERT ON main.events BEGIN SELECT RAISE(ABORT, 'no room'); END"


@asynccontextmanager
async def slow_store(house: House) -> AsyncIterator[None]:
    """Nothing is written until the context is left."""
    go = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.node.journal._database.write, lambda _: go.wait(SAFETY_SECONDS))
        try:
            await anyio.lowlevel.checkpoint()
            yield
        finally:
            go.set()


async def refuse(house: House) -> None:
    """From now on no event can be written."""
    await house.node.journal._database.write(lambda db: db.execute(REFUSES).rowcount)


async def accept(house: House) -> None:
    """Events can be written again."""
    await house.node.journal._database.write(lambda db: db.execute("DROP TRIGGER refuses").rowcount)


async def asked(house: House) -> None:
    """A worker whose ask waits for ten seconds."""
    await house.hire()
    house.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO, deadline_seconds=10))
    await house.say("clean up")
    await house.event(AskRaised)
    assert isinstance(house.clock, ManualClock)
    await house.clock.until_asleep(2)  # the deadline and the retention


async def test_a_deadline_that_comes_while_the_answer_is_being_written_holds_nobody_up(house: House) -> None:
    clock = house.clock
    assert isinstance(clock, ManualClock)
    await asked(house)
    async with anyio.create_task_group() as tasks, slow_store(house):
        tasks.start_soon(house.answer, "a", "yes")
        await anyio.lowlevel.checkpoint()
        clock.advance(11)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
    assert (await house.fact(AskSettled)).how is HowSettled.ANSWERED


async def test_a_deadline_that_cannot_be_written_is_tried_again(house: House) -> None:
    clock = house.clock
    assert isinstance(clock, ManualClock)
    await asked(house)
    await clock.until_asleep(1)  # the retention
    before = clock.sleepers
    await refuse(house)
    clock.advance(11)
    await clock.until_asleep(before)
    with pytest.raises(errors.StoreError):
        await house.say("anybody there?")
    await accept(house)
    clock.advance(2)
    assert (await house.fact(AskSettled)).how is HowSettled.EXPIRED


async def test_a_death_that_cannot_be_written_is_written_later_and_costs_one_turn(house: House) -> None:
    clock = house.clock
    assert isinstance(clock, ManualClock)
    await house.hire()
    house.agent.plays(Said(text="I am at it"))
    await house.say("clean up")
    await house.event(Said)
    await clock.until_asleep(1)  # the retention
    before = clock.sleepers
    await refuse(house)
    await house.agent.links["ann"].die()
    await clock.until_asleep(before + 1)
    await accept(house)
    clock.advance(2)
    assert (await house.fact(TurnEnded)).how is HowEnded.FAILED
    said = await house.say("and now?")
    assert (await house.fact(TurnEnded, lambda event: event.turn == said.message)).how is HowEnded.COMPLETED


@pytest.mark.parametrize("command", ["relaunch", "end"])
async def test_what_ends_an_agent_is_tried_again_until_it_can_be_written(house: House, command: str) -> None:
    clock = house.clock
    assert isinstance(clock, ManualClock)
    await house.hire()
    await clock.until_asleep(1)  # the retention
    before = clock.sleepers
    # Written after the command, so that the worker's own facts are the first that fail.
    async with anyio.create_task_group() as tasks, slow_store(house):
        tasks.start_soon(house.relaunch if command == "relaunch" else house.end, "ann")
        tasks.start_soon(refuse, house)
        await anyio.lowlevel.checkpoint()
    await clock.until_asleep(before + 1)
    await accept(house)
    clock.advance(2)
    if command == "end":
        await house.event(Ended)
    else:
        await house.until(lambda present: not present.workers["ann"].relaunching)


async def test_an_agent_that_cannot_be_ended_costs_nobody_else(house: House) -> None:
    await house.hire("ann")
    await house.hire("bob")
    house.agent.breaks_at_end = OSError("no such thing")
    await house.end("ann")
    await house.event(Ended)
    said = await house.say("still there?", "bob")
    assert (await house.fact(TurnEnded, lambda event: event.turn == said.message)).how is HowEnded.COMPLETED


async def test_a_fact_that_no_store_could_write_costs_one_worker_one_turn(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="half a character: \ud83d"))
    first = await house.say("speak")
    assert (await house.fact(TurnEnded, lambda event: event.turn == first.message)).how is HowEnded.FAILED
    second = await house.say("again")
    assert (await house.fact(TurnEnded, lambda event: event.turn == second.message)).how is HowEnded.COMPLETED


async def test_a_channel_waits_for_a_store_that_refuses_and_misses_nothing(tmp_path: Path) -> None:
    clock = ManualClock()

    def channels(context: ChannelContext) -> list[Channel]:
        return [LedgerChannel(context, tmp_path / "sent")]

    async with open_house(tmp_path, clock=clock, channels=channels) as house:
        await house.hire()
        await clock.until_asleep(1)  # the retention
        before = clock.sleepers
        refusal = REFUSES.replace("main.events", "main.outbox")
        await house.node.outbox._change(refusal, ())
        said = await house.say("hello")
        await house.event(TurnEnded, lambda event: event.turn == said.message)
        await clock.until_asleep(before + 1)
        await house.node.outbox._change("DROP TRIGGER refuses", ())
        clock.advance(2)
        with anyio.fail_after(SAFETY_SECONDS):
            while not any("answer to hello" in line.text for line in ledger.read(tmp_path / "sent")):
                await anyio.wait_all_tasks_blocked()


async def test_a_hiring_whose_place_cannot_be_read_is_tried_again(house: House) -> None:
    clock, database = house.clock, house.node.journal._database
    assert isinstance(clock, ManualClock)
    await clock.until_asleep(1)  # the retention
    before = clock.sleepers

    async def rename(old: str, new: str) -> None:
        await database.read(lambda db: db.execute(f"ALTER TABLE {old} RENAME TO {new}").rowcount)

    await rename("cursors", "hidden")
    await house.hire(online=False)
    await clock.until_asleep(before + 1)
    await rename("hidden", "cursors")
    clock.advance(2)
    await house.until(lambda present: present.workers["ann"].online)
