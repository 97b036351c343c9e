"""Sprints of a whole node with a scripted agent: task after task, checked, halted, limited, over restarts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.house.busy_git import make_busy_repository, until
from tests.house.held_check import BEGUN, ENDED, held_check

from farhand.model.commands import AddTasks, Halt, Hire, SkipTask, Sprint
from farhand.model.errors import CannotDo
from farhand.model.facts import (
    Fact,
    Limited,
    Noted,
    Queued,
    Said,
    SprintBegan,
    SprintEnded,
    SprintMoved,
    TurnEnded,
    TurnStarted,
)
from farhand.model.inbox import inbox
from farhand.model.ports import Deliver
from farhand.model.sprint import HowSprintEnded, SprintLimits, SprintOutcome
from farhand.model.words import HowEnded, Usage
from farhand.testing.clock import ManualClock
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
COMPLETED = TurnEnded(how=HowEnded.COMPLETED)


async def sprint(house: House, *tasks: str, verifier: str = "", limits: SprintLimits | None = None) -> None:
    """Starts one."""
    command = Sprint(id=house.id(), tasks=tasks, verifier=verifier, limits=limits or SprintLimits())
    await house.send(command)


def prompts(agent: ScriptedDriver) -> list[str]:
    """What the agent was told, in order."""
    return [errand.message.text for _, errand in agent.performed if isinstance(errand, Deliver)]


def done(*tasks: str) -> tuple[SprintOutcome, ...]:
    return tuple(SprintOutcome(task=task, done=True) for task in tasks)


async def test_tasks_are_done_one_after_the_other(house: House) -> None:
    await house.hire()
    await sprint(house, "a", "b", "c")
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.sprint.outcomes) == (HowSprintEnded.DONE, done("a", "b", "c"))
    assert [text.splitlines()[0] for text in prompts(house.agent)] == [
        f"Task {n + 1} of 3: {t}" for n, t in enumerate("abc")
    ]
    assert house.worker().sprint is None


async def test_what_the_verifier_says_is_the_next_prompt(house: House, tmp_path: Path) -> None:
    await house.hire()
    verifier = (
        f"echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) -ge 3 || {{ echo two tests fail; exit 1; }}"
    )
    house.agent.plays(Said(text="first try"), COMPLETED)
    house.agent.plays(Said(text="second try"), COMPLETED)
    await sprint(house, "a", verifier=verifier)
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.sprint.failures) == (HowSprintEnded.DONE, 2)
    assert ended.sprint.outcomes == (SprintOutcome(task="a", done=True, rounds=3),)
    assert "two tests fail" not in prompts(house.agent)[0]
    assert "two tests fail" in prompts(house.agent)[1]


async def test_rounds_without_end_are_stuck(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="one"), COMPLETED)
    house.agent.plays(Said(text="two"), COMPLETED)
    await sprint(house, "a", "b", verifier="false", limits=SprintLimits(rounds=2))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.STUCK, "2 rounds were not enough")
    assert ended.sprint.outcomes == (SprintOutcome(task="a", done=False, rounds=2, why="2 rounds were not enough"),)
    assert waits(house) == [("sprint", "2 rounds were not enough")]
    await house.say("go on")
    await house.until(lambda present: not present.workers["ann"].stuck)
    assert waits(house) == [], "whoever goes on with the worker has seen to it"


def waits(house: House) -> list[tuple[str, str]]:
    """What the inbox has."""
    return [(item.kind, item.text) for item in inbox(house.hub.present)]


async def test_an_agent_that_says_the_same_again_is_stuck(house: House) -> None:
    await house.hire()
    for _ in range(2):
        house.agent.plays(Said(text="It should work now."), COMPLETED)
    await sprint(house, "a", verifier="false", limits=SprintLimits(rounds=9))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.STUCK, "the agent says the same again")


async def test_stop_in_a_message_ends_it_after_the_turn(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await sprint(house, "a", "b")
    await house.fact(Said)
    await house.say("please Stop!")
    link = await house.agent.wait_link("ann")
    turn = house.worker().turn
    assert turn is not None
    await link.say(COMPLETED, turn=turn.id)
    ended = await house.fact(SprintEnded)
    assert ended.how is HowSprintEnded.HALTED
    assert len([text for text in prompts(house.agent) if text.startswith("Task")]) == 1
    assert ended.sprint.outcomes[0].task == "a"


async def test_stop_now_interrupts(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await sprint(house, "a", "b")
    await house.fact(Said)
    await house.say("STOP NOW")
    assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
    assert (await house.fact(SprintEnded)).how is HowSprintEnded.HALTED
    assert len(prompts(house.agent)) == 1, "a bare STOP is no message for the agent"


@pytest.mark.parametrize("says", ["", "STOP NOW"])
async def test_stop_now_ends_the_check_that_runs_and_all_that_it_has_started(
    house: House, tmp_path: Path, says: str
) -> None:
    await house.hire()
    with held_check(tmp_path) as check:
        await sprint(house, "a", "b", verifier=check.command)
        assert await check.tells() == BEGUN
        await (house.say(says) if says else house.send(Halt(id=house.id(), now=True)))
        ended = await house.fact(SprintEnded)
        assert (ended.how, ended.why) == (HowSprintEnded.HALTED, "its check was stopped")
        assert ended.sprint.outcomes == (SprintOutcome(task="a", done=False, why="its check was stopped"),)
        assert await check.tells() == ENDED
    assert house.worker().sprint is None
    assert len(prompts(house.agent)) == 1


async def test_stop_now_ends_the_commit_of_a_task_and_leaves_no_lock(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        lock = make_busy_repository(tmp_path)
        await house.hire()
        await sprint(house, "a", "b")
        await until(lock, there=True)
        await house.say("STOP NOW")
        ended = await house.fact(SprintEnded)
        assert (ended.how, ended.why) == (HowSprintEnded.HALTED, "its commit was stopped")
        assert not lock.exists()


async def test_a_stop_is_made_one_at_once_by_a_second_word(house: House, tmp_path: Path) -> None:
    await house.hire()
    with held_check(tmp_path) as check:
        await sprint(house, "a", verifier=check.command)
        assert await check.tells() == BEGUN
        await house.send(Halt(id=house.id()))
        running = house.worker().sprint
        assert running is not None
        assert (running.halting, running.halting_now) == (True, False)
        await house.send(Halt(id=house.id(), now=True))
        assert (await house.fact(SprintEnded)).why == "its check was stopped"
        assert await check.tells() == ENDED


async def test_what_a_skipped_task_is_checked_by_is_ended(house: House, tmp_path: Path) -> None:
    await house.hire()
    with held_check(tmp_path) as check:
        await sprint(house, "a", verifier=check.command)
        assert await check.tells() == BEGUN
        await house.send(SkipTask(id=house.id()))
        ended = await house.fact(SprintEnded)
        skipped = SprintOutcome(task="a", done=False, why="skipped")
        assert (ended.how, ended.sprint.outcomes) == (HowSprintEnded.DONE, (skipped,))
        assert await check.tells() == ENDED


async def test_a_message_of_a_person_goes_between_two_tasks(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await sprint(house, "a", "b")
    await house.fact(Said)
    await house.say("use tabs")
    link = await house.agent.wait_link("ann")
    turn = house.worker().turn
    assert turn is not None
    await link.say(COMPLETED, turn=turn.id)
    await house.fact(SprintEnded)
    assert [text.splitlines()[0] for text in prompts(house.agent)] == ["Task 1 of 2: a", "use tabs", "Task 2 of 2: b"]


async def test_tasks_are_added_and_skipped(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await sprint(house, "a", "b")
    await house.fact(Said)
    await house.send(AddTasks(id=house.id(), tasks=("c",)))
    await house.send(SkipTask(id=house.id()))
    link = await house.agent.wait_link("ann")
    turn = house.worker().turn
    assert turn is not None
    await link.say(COMPLETED, turn=turn.id)
    ended = await house.fact(SprintEnded)
    skipped = SprintOutcome(task="a", done=False, why="skipped")
    assert ended.sprint.outcomes == (skipped, *done("b", "c"))


async def test_limits_of_cost_end_it(house: House) -> None:
    await house.hire()
    dear = TurnEnded(how=HowEnded.COMPLETED, usage=Usage(input_tokens=10, output_tokens=5, cost_dollars=0.6))
    for _ in range(3):
        house.agent.plays(Said(text="x"), dear)
    await sprint(house, "a", "b", "c", limits=SprintLimits(dollars=1.0))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.LIMIT, "$1.00 are spent")
    assert ended.sprint.outcomes == done("a", "b")
    assert ended.usage == Usage(input_tokens=20, output_tokens=10, cost_dollars=1.2)


def used(tokens: int, window: int = 0) -> TurnEnded:
    """The end of a turn after which so many tokens of the context are used."""
    return TurnEnded(how=HowEnded.COMPLETED, usage=Usage(context_tokens=tokens, context_window=window))


async def test_a_context_that_is_nearly_full_is_told_once_and_limits(house: House) -> None:
    await house.hire()
    for number, end in enumerate((used(79_999, 100_000), used(80_000, 100_000), used(85_000, 100_000), used(90_000))):
        house.agent.plays(Said(text=f"turn {number}"), end)
    await sprint(house, "a", "b", "c", "d", "e", limits=SprintLimits(context=90))
    ended = await house.fact(SprintEnded)
    assert (ended.how, ended.why) == (HowSprintEnded.LIMIT, "90 % of the context is used")
    assert ended.sprint.outcomes == done("a", "b", "c", "d")
    history = [event.fact for event in await house.history()]
    (told,) = [fact.text for fact in history if isinstance(fact, Noted)]
    assert "80 % of the context is used (80,000 of 100,000 tokens)" in told
    assert "/sprint stop" in told
    moved = [fact.sprint.at for fact in history if isinstance(fact, SprintMoved) and fact.sprint.warned]
    assert min(moved) == 1, "not before the second task"


async def test_the_context_window_is_learned_from_another_worker_of_the_same_model(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="I know"), used(1, 1000))
    await house.say("hello")
    await house.fact(TurnEnded)
    await house.hire("bob")
    house.agent.plays(Said(text="I do not"), used(950))
    await house.send(Sprint(id=house.id(), worker="bob", tasks=("a",)))
    told = await house.fact(Noted, lambda event: event.worker == "bob")
    assert told.text.startswith("95 % of the context is used")
    assert (await house.fact(SprintEnded)).sprint.context == 95


async def test_the_agents_own_plan_ends_when_it_says_so(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="did one"), COMPLETED)
    house.agent.plays(Said(text="nothing is left: SPRINT DONE"), COMPLETED)
    await sprint(house)
    ended = await house.fact(SprintEnded)
    assert ended.how is HowSprintEnded.DONE
    assert len(ended.sprint.outcomes) == 1


async def test_a_usage_limit_parks_it_until_the_reset(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire()
        until = clock.now() + 3600
        house.agent.plays(Limited(text="limit", until=until), TurnEnded(how=HowEnded.PARKED))
        await sprint(house, "a", "b")
        await house.until(lambda present: present.workers["ann"].resumes_at is not None)
        clock.advance(3601)
        ended = await house.fact(SprintEnded)
        assert ended.sprint.outcomes == done("a", "b")
        assert [text.splitlines()[0] for text in prompts(house.agent)] == ["Task 1 of 2: a"] * 2 + ["Task 2 of 2: b"]


async def test_a_restart_goes_on_where_it_stood(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    agent.plays(Said(text="one"), COMPLETED)
    agent.plays(Said(text="working"))
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        await sprint(house, "a", "b", "c")
        await house.fact(Said, lambda event: isinstance(event.fact, Said) and event.fact.text == "working")
    async with open_house(tmp_path, agent) as house:
        await agent.wait_opened(2)
        link = agent.links["ann"]
        turn = house.worker().turn
        assert turn is not None
        await link.say(COMPLETED, turn=turn.id)
        ended = await house.fact(SprintEnded)
        assert ended.sprint.outcomes == done("a", "b", "c")
        every = [event.fact.message for event in await house.history() if isinstance(event.fact, TurnStarted)]
        assert len(every) == len(set(every)) == 3


async def test_each_task_is_a_commit_of_its_own(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        git(tmp_path, "init", "-q")
        git(tmp_path, "config", "user.name", "Ada")
        git(tmp_path, "config", "user.email", "ada@example.org")
        (tmp_path / ".gitignore").write_text("test\ntmp\n")
        git(tmp_path, "add", ".gitignore")
        git(tmp_path, "commit", "-qm", "start")
        await house.hire()
        await sprint(house, "write a", "write b", verifier="date +%N > work.txt")
        ended = await house.fact(SprintEnded)
        commits = [one.commit for one in ended.sprint.outcomes]
        assert all(commits)
        assert git(tmp_path, "log", "--format=%H", "-2").split() == commits[::-1]
        assert git(tmp_path, "log", "--format=%s", "-2").splitlines() == ["write b", "write a"]
        assert git(tmp_path, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "setting",
    ["[core]\nfsmonitor = touch {pwned}", '[filter "x"]\nprocess = touch {pwned}', "[include]\npath = elsewhere"],
)
async def test_a_repository_whose_settings_run_programs_is_not_committed_to(tmp_path: Path, setting: str) -> None:
    async with open_house(tmp_path) as house:
        git(tmp_path, "init", "-q")
        pwned = tmp_path / "pwned"
        with (tmp_path / ".git" / "config").open("a") as config:
            config.write(setting.format(pwned=pwned))
        (tmp_path / ".gitattributes").write_text("* filter=x\n")
        await house.hire()
        await sprint(house, "write a", verifier="echo a > work.txt")
        (outcome,) = (await house.fact(SprintEnded)).sprint.outcomes
        assert (outcome.done, outcome.commit) == (True, "")
        assert "the repository's own git configuration can run programs" in outcome.why
        assert not pwned.exists()


async def test_the_hooks_of_a_repository_are_not_run(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        git(tmp_path, "init", "-q")
        git(tmp_path, "config", "user.name", "Ada")
        git(tmp_path, "config", "user.email", "ada@example.org")
        (tmp_path / ".gitignore").write_text("test\ntmp\n")
        hook = tmp_path / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
        hook.chmod(0o700)
        await house.hire()
        await sprint(house, "write a", verifier="echo a > work.txt")
        (outcome,) = (await house.fact(SprintEnded)).sprint.outcomes
        assert outcome.commit
        assert not (tmp_path / "pwned").exists()


async def test_a_worker_in_a_sandbox_gets_nothing_run_outside_of_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.send(Hire(id=house.id(), worker="ann", backend="scripted", options={"sandbox": "on"}))
        await sprint(house, "write a", verifier=f"touch {tmp_path}/pwned", limits=SprintLimits(rounds=1))
        ended = await house.fact(SprintEnded)
        assert ended.how is HowSprintEnded.STUCK
        assert not (tmp_path / "pwned").exists()


async def test_one_sprint_at_a_time_and_none_is_told(house: House) -> None:
    await house.hire()
    with pytest.raises(CannotDo, match="at no sprint"):
        await house.send(Halt(id=house.id()))
    house.agent.plays(Said(text="working"))
    await sprint(house, "a")
    await house.fact(Said)
    with pytest.raises(CannotDo, match="at a sprint already"):
        await sprint(house, "b")
    await house.send(Halt(id=house.id(), now=True))
    assert (await house.fact(SprintEnded)).how is HowSprintEnded.HALTED
    kinds: list[type[Fact]] = [type(event.fact) for event in await house.history()]
    assert kinds.count(SprintBegan) == kinds.count(SprintEnded) == 1
    assert SprintMoved in kinds
    assert Queued in kinds


def git(folder: Path, *words: str) -> str:
    """Git in that folder."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout
