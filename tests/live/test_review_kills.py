"""A sprint with the gate on outlives every kill: one task passes at once, one after a round, one never."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.house.reviewing import git, repository
from tests.live.test_kills import World

from farhand.model.commands import Hire, Sprint
from farhand.model.facts import Hired, ReviewMoved, SprintEnded, TurnStarted
from farhand.model.review import Judgement, is_reviewer
from farhand.model.sprint import HowSprintEnded, SprintLimits

pytestmark = pytest.mark.anyio
TASKS = ("write-good", "write-flawed", "write-hostile")
SAFETY_SECONDS = 600.0


async def begin(world: World, shop: Path) -> None:
    """Hires a worker and starts its sprint."""
    limits = SprintLimits(rounds=2)
    await world.send(
        Hire(id="hire", worker="ann", backend="scripted", directory=str(shop)),
        Sprint(id="s1", worker="ann", tasks=TASKS, review=("scripted",), limits=limits),
    )


@pytest.mark.parametrize(
    "kills",
    [
        ("worker.performed:2", "worker.recorded:2", "worker.handed_over:2"),
        ("worker.before_record:2", "worker.before_perform:2", "worker.turn_started:1"),
    ],
)
async def test_each_task_is_judged_and_none_slips_through(short_folder: Path, kills: tuple[str, ...]) -> None:
    world, shop = World(short_folder), repository(short_folder / "shop")
    try:
        with anyio.fail_after(SAFETY_SECONDS):
            await world.start(kills[0])
            await begin(world, shop)
            for place in (*kills[1:], ""):
                await world.died()
                await world.start(place)
            told = await world.events_until(SprintEnded)
        ended = told[-1].fact
        assert isinstance(ended, SprintEnded)
        assert (ended.how, ended.why) == (HowSprintEnded.STUCK, "2 rounds were not enough")
        assert [(one.done, one.rounds) for one in ended.sprint.outcomes] == [(True, 1), (True, 2), (False, 2)]
        assert git(shop, "log", "--format=%s").splitlines() == ["write-flawed", "write-good", "start"]
        assert git(shop, "show", "HEAD:flawed.txt") == "mended"
        assert git(shop, "status", "--porcelain").split() == ["??", "hostile.txt"]
        verdicts = [one.fact.review.judgement for one in told if isinstance(one.fact, ReviewMoved) and one.fact.ended]
        wanted = [Judgement.APPROVE, Judgement.CHANGES, Judgement.APPROVE, Judgement.CHANGES, Judgement.CHANGES]
        assert verdicts == wanted
        hirings = [one.worker for one in told if isinstance(one.fact, Hired) and is_reviewer(one.worker)]
        assert len(hirings) == 5, "a reviewer for each review, and no second one after a kill"
        started = [one.fact.message for one in told if isinstance(one.fact, TurnStarted)]
        assert len(started) == len(set(started)) == 10
        assert world.kills == 3
    finally:
        await world.end()
