"""What nobody foresaw in one move of a review or a sprint, or in one snapshot, costs that one: the node goes on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.house.folding_hub import FoldingHub, PausingClock, until
from tests.house.reviewing import repository

from farhand.core import moves
from farhand.core.hire_policy import HirePolicy
from farhand.core.reviews import Reviews
from farhand.core.sprints import MOST_BREAKS, STORE_PAUSE_SECONDS, Sprints
from farhand.model.errors import GitFailed, NoRepository
from farhand.model.facts import Event, SprintEnded, SprintMoved, TurnEnded
from farhand.model.present import Worker
from farhand.model.review import Captured, FolderNow, ReviewPhase, ReviewState
from farhand.model.sprint import HowSprintEnded, SprintPhase, SprintState
from farhand.model.words import HowEnded, Mode, replace
from farhand.sandbox.environment import child_environment
from farhand.workdir import snapshots
from farhand.workdir.repository import find_repository, mirror
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.sprint_tools import LocalSprintTools

pytestmark = pytest.mark.anyio
ANN = Worker(name="ann", since=1, backend="demo", directory="/srv", online=True)


class BreakingTools:
    """A folder in which so many looks trip an error that nobody foresaw; then everything is well."""

    def __init__(self, times: int) -> None:
        self.looks = 0
        self._times = times

    def _look(self) -> None:
        self.looks += 1
        if self.looks <= self._times:
            raise ZeroDivisionError("nobody foresaw this")

    async def verify(self, _worker: Worker, _command: str) -> tuple[bool, str]:
        """The tests pass."""
        self._look()
        return True, ""

    async def commit(self, _worker: Worker, _subject: str, _trailer: str) -> tuple[str, str]:
        """Nothing was changed."""
        return "", ""

    async def now(self, _worker: Worker) -> FolderNow:
        """As it was."""
        return FolderNow()

    async def prepare(self, _worker: Worker, _asked: ReviewState, _answer: str) -> tuple[Captured, str]:
        """Nothing can be judged here."""
        self._look()
        raise GitFailed("There is nothing to judge.")

    async def keep_only(self, _reviews: object) -> None:
        """There is nothing."""


def _at_its_check() -> Worker:
    running = SprintState(id="s1", began=0.0, tasks=("a",), verifier="true", phase=SprintPhase.CHECK, message="m")
    return replace(ANN, sprint=running)


@pytest.mark.parametrize("times", [1, MOST_BREAKS - 1, MOST_BREAKS, 1000])
async def test_a_move_of_a_sprint_that_breaks_is_made_again_each_time_later_and_not_for_ever(times: int) -> None:
    hub, tools, clock = FoldingHub(_at_its_check()), BreakingTools(times), PausingClock()
    moving = Sprints(hub, clock, tools, tools, HirePolicy(kinds=(), directory="/", mode=Mode.DEFAULT))  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(moving.run)
        expected = [STORE_PAUSE_SECONDS * 2**number for number in range(min(times, MOST_BREAKS - 1))]
        for number, pause in enumerate(expected, 1):
            await until(lambda number=number: len(clock.pauses) == number)  # type: ignore[misc]
            clock.advance(pause)
        await until(lambda: bool(hub.facts))
        tasks.cancel_scope.cancel()
    assert clock.pauses == expected
    (told,) = [fact for fact in hub.facts if isinstance(fact, SprintEnded | SprintMoved)][:1]
    if times < MOST_BREAKS:
        assert not isinstance(told, SprintEnded) or told.how is HowSprintEnded.DONE
    else:
        assert isinstance(told, SprintEnded)
        assert (told.how, "ZeroDivisionError" in told.why) == (HowSprintEnded.STUCK, True)
        assert tools.looks == MOST_BREAKS


async def test_a_check_that_was_stopped_before_it_began_is_not_run() -> None:
    worker = _at_its_check()
    assert worker.sprint is not None
    stopped = replace(worker, sprint=replace(worker.sprint, halting=True, halting_now=True))
    hub, tools = FoldingHub(stopped), BreakingTools(0)
    moving = Sprints(hub, PausingClock(), tools, tools, HirePolicy(kinds=(), directory="/", mode=Mode.DEFAULT))  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(moving.run)
        await until(lambda: bool(hub.facts))
        tasks.cancel_scope.cancel()
    (told,) = hub.facts
    assert isinstance(told, SprintEnded)
    assert (told.how, told.why, tools.looks) == (HowSprintEnded.HALTED, "its check was stopped", 0)


async def test_a_move_of_a_review_that_breaks_costs_that_move() -> None:
    asked = ReviewState(id="r1", number=1, reviewers=())
    hub, tools, clock = FoldingHub(replace(ANN, reviews=(asked,))), BreakingTools(1), PausingClock()
    moving = Reviews(hub, clock, tools)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(moving.run)
        await until(lambda: moves.PAUSE_SECONDS in clock.pauses)
        # The next event tries again, and not at once.
        hub.wake()
        clock.advance(moves.PAUSE_SECONDS)
        await until(lambda: hub.present.workers["ann"].reviews[0].phase is not ReviewPhase.ASKED)
        tasks.cancel_scope.cancel()
    assert tools.looks == 2


async def test_a_character_that_no_command_has_is_an_answer(tmp_path: Path) -> None:
    tools = LocalSprintTools(child_environment(os.environ, {}))
    here = replace(ANN, directory=str(repository(tmp_path / "shop")))
    passed, said = await tools.verify(here, "true\0")
    assert (passed, "cannot be run" in said, said.isprintable()) == (False, True, True)
    (tmp_path / "shop" / "a.py").write_text("changed\n")
    commit, problem = await tools.commit(here, "a\0b", "Sprint-Task: s1/1")
    assert (commit, "cannot be run" in problem) == ("", True)


class UnreadableFolder:
    """The name of a folder at which something breaks that nobody foresaw."""

    def __fspath__(self) -> str:
        raise ZeroDivisionError("nobody foresaw this")


async def test_a_snapshot_that_breaks_costs_that_snapshot(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    odd: object = UnreadableFolder()
    team = {"ann": replace(ANN, directory=str(shop)), "bob": replace(ANN, name="bob", directory=odd)}
    taking = Snapshots(tmp_path / "snapshots", team.get, tmp_path / "node")
    ended = TurnEnded(how=HowEnded.COMPLETED)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(taking.run)
        taking.hear([Event(seq=1, at=0.0, worker=name, turn="t1", fact=ended) for name in ("bob", "ann")])
        await until((taking.ours(team["ann"]) / snapshots.LOG).exists)
        tasks.cancel_scope.cancel()
    assert not (taking.ours(team["bob"]) / snapshots.LOG).exists()


@pytest.mark.skipif(sys.platform == "darwin", reason="a disk there has no such names")
def test_a_repository_whose_path_is_no_text_is_none(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    odd = os.fsdecode(b"\xff")
    (shop / ".git").rename(shop / odd)
    (shop / "g").symlink_to(odd)
    (shop / ".git").write_text("gitdir: g\n")
    with pytest.raises(NoRepository) as told:
        find_repository(shop)
    assert told.value.text.isprintable()


def test_a_repository_that_loses_its_head_is_told_as_that(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    found = find_repository(shop)
    (shop / ".git" / "HEAD").unlink()
    with pytest.raises(GitFailed):
        mirror(found, tmp_path / "ours")
