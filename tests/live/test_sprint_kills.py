"""A sprint outlives every kill of its node: six tasks, a verifier that fails twice, three kills, each prompt once."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.live.test_kills import ME, World

from farhand.client.door import SocketHub
from farhand.model.commands import Command, Hire, Sprint
from farhand.model.errors import NodeError
from farhand.model.facts import SprintEnded, TurnStarted
from farhand.model.sprint import HowSprintEnded, SprintOutcome
from farhand.sandbox.holders import LocalHolders

pytestmark = pytest.mark.anyio
TASKS = tuple(f"task {letter}" for letter in "abcdef")
# The third task is good enough only when the agent was told three times.
VERIFIER = "told=$(grep -c ':2[.]' prompts); test $told -eq 0 -o $told -ge 3 || { echo not yet; exit 1; }"
SAFETY_SECONDS = 600.0


async def facts_of(world: World) -> list[object]:
    """Every fact up to the end of the sprint."""
    found: list[object] = []
    async with world.hub() as hub:
        async for event in hub.watch(after=0):
            found.append(event.fact)
            if isinstance(event.fact, SprintEnded):
                return found
    raise AssertionError("the journal came to an end")


async def begin(world: World) -> None:
    """Hires a worker and starts its sprint, as often as it takes."""
    orders: list[Command] = [
        Hire(id="hire", worker="ann", backend="scripted"),
        Sprint(id="s1", worker="ann", tasks=TASKS, verifier=VERIFIER, commits=False),
    ]
    for order in orders:
        while True:
            try:
                async with SocketHub(world.door) as hub:
                    await hub.send(order, ME)
                    break
            except NodeError:
                await anyio.sleep(0.01)


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
            told = await facts_of(world)
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
        if world.process is not None and world.process.returncode is None:
            world.process.kill()
            await world.process.wait()
        holders = LocalHolders(short_folder / "test" / "holders")
        for name in await holders.names():
            await holders.forget(name)
