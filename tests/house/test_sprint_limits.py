"""The limits of a sprint: tasks that are left over are told, and a turn that hangs does not outlive its time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.house.test_sprints import COMPLETED, done, prompts, sprint

from farhand.model.commands import AddTasks
from farhand.model.facts import InterruptAsked, Limited, Said, SprintEnded, TurnEnded
from farhand.model.sprint import HowSprintEnded, SprintLimits, SprintOutcome
from farhand.model.words import HowEnded
from farhand.testing.clock import ManualClock
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio


async def test_tasks_beyond_the_limit_are_told_as_left(house: House) -> None:
    await house.hire()
    await sprint(house, *"abcdefg", limits=SprintLimits(tasks=2))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.LIMIT, "5 tasks are left")
    assert ended.sprint.outcomes == done("a", "b")


async def test_a_limit_that_is_just_enough_is_none(house: House) -> None:
    await house.hire()
    await sprint(house, *"ab", limits=SprintLimits(tasks=2))
    assert (await house.fact(SprintEnded)).how is HowSprintEnded.DONE


async def test_a_plan_of_its_own_ends_at_the_limit(house: House) -> None:
    await house.hire()
    for number in range(2):
        house.agent.plays(Said(text=f"did {number}"), COMPLETED)
    await sprint(house, limits=SprintLimits(tasks=2))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.LIMIT, "its plan may have more than 2 tasks")


async def test_a_task_that_is_added_beyond_the_limit_is_told_as_left(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await sprint(house, "a", limits=SprintLimits(tasks=1))
    await house.fact(Said)
    await house.send(AddTasks(id=house.id(), tasks=("b",)))
    turn = house.worker().turn
    assert turn is not None
    await (await house.agent.wait_link("ann")).say(COMPLETED, turn=turn.id)
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why, ended.sprint.outcomes) == (HowSprintEnded.LIMIT, "1 task is left", done("a"))


async def test_a_turn_that_hangs_is_interrupted_when_the_time_is_over(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire()
        house.agent.plays(Said(text="working"))
        await sprint(house, "a", "b", limits=SprintLimits(minutes=30))
        await house.fact(Said)
        clock.advance(30 * 60)
        ended = await house.fact(SprintEnded)
        why = "30 minutes are over"
        assert (ended.how, ended.why) == (HowSprintEnded.LIMIT, why)
        assert ended.sprint.outcomes == (SprintOutcome(task="a", done=False, why=why),)
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert len(prompts(house.agent)) == 1


async def test_time_that_is_over_while_the_node_is_away_ends_the_turn_that_still_runs(tmp_path: Path) -> None:
    clock, agent = ManualClock(), ScriptedDriver()
    agent.plays(Said(text="working"))
    async with open_house(tmp_path, agent, clock=clock) as house:
        await house.hire()
        await sprint(house, "a", limits=SprintLimits(minutes=30))
        await house.fact(Said)
    clock.advance(30 * 60)
    async with open_house(tmp_path, agent, clock=clock) as house:
        assert (await house.fact(SprintEnded)).how is HowSprintEnded.LIMIT
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED


async def test_what_a_person_said_in_between_is_not_interrupted(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire()
        house.agent.plays(Said(text="one"))
        house.agent.plays(Said(text="two"))
        await sprint(house, "a", "b", limits=SprintLimits(minutes=30))
        await house.fact(Said)
        said = await house.say("use tabs")
        link, turn = await house.agent.wait_link("ann"), house.worker().turn
        assert turn is not None
        await link.say(COMPLETED, turn=turn.id)
        await house.fact(Said, lambda event: event.turn == said.message)
        clock.advance(30 * 60)
        await link.say(COMPLETED, turn=said.message)
        assert (await house.fact(SprintEnded)).why == "30 minutes are over"
        assert not any(isinstance(event.fact, InterruptAsked) for event in await house.history())


async def test_a_sprint_that_a_usage_limit_parks_is_not_interrupted(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire()
        until = clock.now() + 7200
        house.agent.plays(Limited(text="limit", until=until), TurnEnded(how=HowEnded.PARKED))
        await sprint(house, "a", limits=SprintLimits(minutes=30))
        await house.until(lambda present: present.workers["ann"].resumes_at is not None)
        clock.advance(3600)
        assert house.worker().sprint is not None
        clock.advance(3601)
        assert (await house.fact(SprintEnded)).how is HowSprintEnded.LIMIT
