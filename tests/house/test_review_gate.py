"""The gate: a sprint's task is done, and a branch is merged, only with a verdict that approves and still holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.house.reviewing import COMPLETED, HOLE, ReviewingDriver, git, over, repository, review, reviewed_house

from farhand.core.merges import Merges
from farhand.model.commands import Halt, SkipTask, Sprint
from farhand.model.errors import CannotDo, UnknownBackend
from farhand.model.facts import Fact, Noted, Said, SprintEnded
from farhand.model.grammar import CHAT
from farhand.model.grammar import read as read_wish
from farhand.model.ports import Deliver
from farhand.model.review import ReviewScope
from farhand.model.sprint import HowSprintEnded, SprintLimits, SprintOutcome
from farhand.model.words import Sender
from farhand.sandbox.environment import child_environment
from farhand.testing.house import House
from farhand.testing.scripted import ScriptedDriver
from farhand.workdir.review_tools import LocalReviewTools
from farhand.workdir.snapshots import Snapshots

pytestmark = pytest.mark.anyio
PHONE = Sender(via="web-1", who="my phone")


class Author(ScriptedDriver):
    """An agent that writes a file for each task, another text in each round."""

    def __init__(self, folder: Path, also: Callable[[Path], None] = lambda _: None) -> None:
        super().__init__()
        self.folder = folder
        self.also = also
        self.turns = 0

    def default(self, errand: Deliver) -> Sequence[Fact]:
        """Works for real."""
        self.turns += 1
        (self.folder / "work.txt").write_text(f"turn {self.turns}\n")
        self.also(self.folder)
        return (Said(text=f"turn {self.turns} is done"), COMPLETED)


async def sprint(house: House, *tasks: str, commits: bool = True, rounds: int = 2) -> SprintEnded:
    """A sprint whose tasks the critic must approve of."""
    limits = SprintLimits(rounds=rounds)
    await house.send(Sprint(id="s1", worker="ann", tasks=tasks, review=("critic",), limits=limits, commits=commits))
    return await house.fact(SprintEnded)


async def test_one_task_passes_at_once_one_after_a_round_one_never(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    for verdict in ("approve", "changes", "approve", "changes", "changes"):
        critic.says(verdict, *([HOLE] if verdict == "changes" else []))
    author = Author(shop)
    async with reviewed_house(tmp_path, critic, agent=author) as house:
        await house.hire(directory=shop)
        ended = await sprint(house, "a", "b", "c")
        assert (ended.how, ended.why) == (HowSprintEnded.STUCK, "2 rounds were not enough")
        first, second, third = ended.sprint.outcomes
        assert (first.done, first.rounds, second.done, second.rounds, third.done) == (True, 1, True, 2, False)
        assert git(shop, "log", "--format=%H", "-2").split() == [second.commit, first.commit]
        assert git(shop, "log", "--format=%s", "-3").splitlines() == ["b", "a", "start"]
        assert git(shop, "show", "HEAD:work.txt") == "turn 3"
        assert git(shop, "status", "--porcelain").split() == ["M", "work.txt"]
        prompts = [errand.message.text for _, errand in author.performed if isinstance(errand, Deliver)]
        assert "P1 a.py:1: It breaks." in prompts[2]


async def test_another_worker_checks_each_task_and_what_it_found_is_the_next_prompt(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    critic.says("changes", HOLE)
    author = Author(shop)
    async with reviewed_house(tmp_path, critic, agent=author) as house:
        await house.hire(directory=shop)
        await house.hire("bob", "critic", directory=tmp_path)
        started = read_wish("s1", "/sprint ann start --verify @bob\n- a\n- b", house.hub.present, CHAT)
        assert isinstance(started, Sprint)
        await house.send(started)
        ended = await house.fact(SprintEnded)
        assert (ended.how, ended.sprint.failures) == (HowSprintEnded.DONE, 1)
        assert [(one.task, one.done, one.rounds) for one in ended.sprint.outcomes] == [("a", True, 2), ("b", True, 1)]
        prompts = [errand.message.text for _, errand in author.performed if isinstance(errand, Deliver)]
        assert ["P1 a.py:1: It breaks." in one for one in prompts] == [False, True, False]
        await house.until(lambda present: sorted(present.workers) == ["ann", "bob"])


async def test_what_is_edited_after_the_verdict_is_judged_anew(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    edits = iter(("one\n", "two\n", "three\n", "four\n"))
    judge = critic.default

    def and_edit(errand: Deliver) -> Sequence[Fact]:
        (shop / "evil.py").write_text(next(edits))
        return judge(errand)

    critic.default = and_edit  # type: ignore[method-assign]
    async with reviewed_house(tmp_path, critic, agent=Author(shop)) as house:
        await house.hire(directory=shop)
        ended = await sprint(house, "a")
        assert (ended.how, ended.why) == (HowSprintEnded.STUCK, "no verdict that holds came of 3 reviews")
        assert git(shop, "log", "--format=%s").splitlines() == ["start"]


async def test_a_commit_of_the_agents_own_does_not_slip_through(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    critic.says("changes", HOLE)

    def commit(folder: Path) -> None:
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "mine")

    async with reviewed_house(tmp_path, critic, agent=Author(shop, commit)) as house:
        await house.hire(directory=shop)
        ended = await sprint(house, "a")
        assert (ended.how, ended.sprint.failures) == (HowSprintEnded.DONE, 1)
        told = [errand.message.text for _, errand in critic.performed if isinstance(errand, Deliver)]
        assert ["+turn 1" in told[0], "+turn 2" in told[1]] == [True, True]


async def test_a_task_that_changes_nothing_needs_no_verdict_and_one_without_a_repository_gets_none(
    tmp_path: Path,
) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    async with reviewed_house(tmp_path, critic) as house:
        await house.hire(directory=shop)
        ended = await sprint(house, "a")
        assert ended.sprint.outcomes == (SprintOutcome(task="a", done=True),)
        await house.hire("bob", directory=tmp_path)
        await house.send(Sprint(id="s2", worker="bob", tasks=("a",), review=("critic",)))
        stuck = await house.fact(SprintEnded, lambda event: event.worker == "bob")
        assert stuck.how is HowSprintEnded.STUCK
        assert "no git repository" in stuck.why
        with pytest.raises(UnknownBackend):
            await house.send(Sprint(id="s3", worker="ann", tasks=("a",), review=("nobody",)))
        assert not critic.performed


async def test_a_reviewer_that_never_judges_leaves_the_task_open(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    for _ in range(3):
        critic.plays(Said(text="Ship it."), COMPLETED)
    async with reviewed_house(tmp_path, critic, agent=Author(shop)) as house:
        await house.hire(directory=shop)
        ended = await sprint(house, "a")
        assert ended.how is HowSprintEnded.STUCK
        assert not ended.sprint.outcomes[0].done


async def test_a_restart_in_the_middle_of_a_review_goes_on(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    author = Author(shop)
    critic.plays(Said(text="reading"))
    async with reviewed_house(tmp_path, critic, agent=author) as house:
        await house.hire(directory=shop)
        await house.send(Sprint(id="s1", worker="ann", tasks=("a", "b"), review=("critic",)))
        await house.fact(Said, lambda event: event.worker != "ann")
        (asked,) = house.worker().reviews
    async with reviewed_house(tmp_path, critic, agent=author) as house:
        name = asked.reviewers[0].worker
        await critic.wait_opened(2)
        turn = house.worker(name).turn
        assert turn is not None
        text = f'{{"review": "{asked.reviewers[0].mark}", "verdict": "approve"}}'
        await critic.links[name].say(Said(text=text), turn=turn.id)
        await critic.links[name].say(COMPLETED, turn=turn.id)
        ended = await house.fact(SprintEnded)
        assert [one.done for one in ended.sprint.outcomes] == [True, True]
        assert author.turns == 2
        assert git(shop, "log", "--format=%s").splitlines() == ["b", "a", "start"]


@pytest.mark.parametrize(
    "how", [Halt(id="no", worker="ann"), Halt(id="no", worker="ann", now=True), SkipTask(id="no", worker="ann")]
)
async def test_a_review_that_no_task_waits_for_is_over_and_its_reviewer_goes(
    tmp_path: Path, how: Halt | SkipTask
) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    critic.plays(Said(text="reading"))
    async with reviewed_house(tmp_path, critic, agent=Author(shop)) as house:
        await house.hire(directory=shop)
        await house.send(Sprint(id="s1", worker="ann", tasks=("a",), review=("critic",)))
        await house.fact(Said, lambda event: event.worker != "ann")
        await house.send(how)
        ended = await house.fact(SprintEnded)
        assert ended.how is (HowSprintEnded.HALTED if isinstance(how, Halt) else HowSprintEnded.DONE)
        assert (await over(house)).problem == "The sprint no longer waits for it."
        await house.until(lambda present: list(present.workers) == ["ann"])
        assert git(shop, "log", "--format=%s") == "start"


async def test_a_merge_needs_a_verdict_on_exactly_these_commits(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    start = git(shop, "rev-parse", "HEAD")
    git(shop, "switch", "-qc", "work")
    (shop / "a.py").write_text("print(2)\n")
    git(shop, "commit", "-qam", "two")
    async with reviewed_house(tmp_path, critic) as house:
        await house.hire(directory=shop)
        tools = LocalReviewTools(
            Snapshots(
                tmp_path / "test" / "snapshots", house.hub.present.workers.get, house.node.settings.private_folder
            ),
            tmp_path,
            child_environment({}, {}),
        )
        merges = Merges(house.hub, tools, gate=True)
        with pytest.raises(CannotDo, match="nobody has approved of main"):
            await merges.merge(house.worker(), "main", PHONE)
        with pytest.raises(CannotDo, match="no branch"):
            await merges.merge(house.worker(), "nowhere", PHONE)
        await review(house, scope=ReviewScope.COMMITS, base="main")
        await over(house)
        (shop / "a.py").write_text("print(3)\n")
        with pytest.raises(CannotDo, match="not committed"):
            await merges.merge(house.worker(), "main", PHONE)
        git(shop, "commit", "-qam", "three")
        with pytest.raises(CannotDo, match="nobody has approved"):
            await merges.merge(house.worker(), "main", PHONE)
        assert git(shop, "rev-parse", "main") == start
        git(shop, "reset", "-q", "--hard", "HEAD~1")
        assert (
            await merges.merge(house.worker(), "main", PHONE)
            == git(shop, "rev-parse", "main")
            == git(shop, "rev-parse", "work")
        )
        noted = await house.fact(Noted)
        assert noted.text == f"main is at {git(shop, 'rev-parse', 'main')[:8]} now, as review #1 approved."
        assert noted.by == PHONE
