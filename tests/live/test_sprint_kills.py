"""A sprint outlives every kill of its node: six tasks, a verifier that fails twice, three kills, each prompt once; the
check that runs at a kill does not."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.house.busy_git import make_busy_repository, until
from tests.house.held_check import BEGUN, ENDED, held_check
from tests.live.test_kills import World

from farhand.model.commands import Hire, Sprint
from farhand.model.facts import SprintEnded, TurnStarted
from farhand.model.sprint import HowSprintEnded, SprintOutcome

pytestmark = pytest.mark.anyio
TASKS = tuple(f"task {letter}" for letter in "abcdef")
# The third task is good enough only when the agent was told three times.
VERIFIER = "told=$(grep -c ':2[.]' prompts); test $told -eq 0 -o $told -ge 3 || { echo not yet; exit 1; }"
SAFETY_SECONDS = 600.0


async def begin(world: World) -> None:
    """Hires a worker and starts its sprint."""
    await world.send(
        Hire(id="hire", worker="ann", backend="scripted"),
        Sprint(id="s1", worker="ann", tasks=TASKS, verifier=VERIFIER, commits=False),
    )


@pytest.mark.parametrize(
    "kills",
    [
        ("worker.performed:2", "worker.recorded:1", "worker.handed_over:2"),
        ("worker.recorded:2", "worker.before_perform:1", "worker.before_record:1"),
    ],
)
async def test_every_task_is_done_once(short_folder: Path, kills: tuple[str, ...]) -> None:
    world = World(short_folder)
    try:
        with anyio.fail_after(SAFETY_SECONDS):
            await world.start(kills[0])
            await begin(world)
            for place in (*kills[1:], ""):
                await world.died()
                await world.start(place)
            told = [event.fact for event in await world.events_until(SprintEnded)]
        ended = told[-1]
        assert isinstance(ended, SprintEnded)
        assert (ended.how, ended.sprint.failures) == (HowSprintEnded.DONE, 2)
        rounds = {"task c": 3}
        assert ended.sprint.outcomes == tuple(
            SprintOutcome(task=task, done=True, rounds=rounds.get(task, 1)) for task in TASKS
        )
        prompts = (short_folder / "prompts").read_text().split()
        assert prompts == [f"sprint:s1:{n}.{r + 1}" for n, task in enumerate(TASKS) for r in range(rounds.get(task, 1))]
        started = [one.message for one in told if isinstance(one, TurnStarted)]
        assert started == prompts
        assert world.kills == 3
    finally:
        await world.end()


async def test_a_check_dies_with_its_node_and_is_run_again_once(short_folder: Path) -> None:
    world = World(short_folder)
    runs = short_folder / "runs"
    try:
        with anyio.fail_after(SAFETY_SECONDS), held_check(short_folder) as check:
            verifier = f"echo run >> '{runs}'; test $(wc -l < '{runs}') -gt 1 || {{ {check.command}; }}"
            await world.start()
            await world.send(
                Hire(id="hire", worker="ann", backend="scripted"),
                Sprint(id="s1", worker="ann", tasks=("task a",), verifier=verifier, commits=False),
            )
            assert await check.tells() == BEGUN
            world.kill()
            await world.died()
            assert await check.tells() == ENDED, "nobody is left of it, with no second node to end it"
            await world.start()
            ended = (await world.events_until(SprintEnded))[-1].fact
        assert isinstance(ended, SprintEnded)
        assert (ended.how, ended.sprint.outcomes) == (HowSprintEnded.DONE, (SprintOutcome(task="task a", done=True),))
        assert runs.read_text().split() == ["run", "run"]
        assert (short_folder / "prompts").read_text().split() == ["sprint:s1:0.1"]
    finally:
        await world.end()


async def test_a_commit_dies_with_its_node_and_leaves_no_lock(short_folder: Path) -> None:
    world = World(short_folder)
    work = short_folder / "work"
    work.mkdir()
    lock = make_busy_repository(work)
    try:
        with anyio.fail_after(SAFETY_SECONDS):
            await world.start()
            await world.send(
                Hire(id="hire", worker="ann", backend="scripted", directory=str(work)),
                Sprint(id="s1", worker="ann", tasks=("task a",)),
            )
            await until(lock, there=True)
            world.kill()
            await world.died()
            await until(lock, there=False)
    finally:
        await world.end()
