"""When a worker's folder is looked at: at the start of a turn, and at its end where there is something to compare."""

from pathlib import Path

import anyio
import pytest
from tests.house.workdir_client import git, repository

from farhand.model.facts import Event, Fact, TurnEnded, TurnStarted
from farhand.model.present import Worker
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS
from farhand.workdir.repository import find_repository
from farhand.workdir.snapshots import Snapshots

pytestmark = pytest.mark.anyio
ENDED = TurnEnded(how=HowEnded.COMPLETED)


async def test_a_turn_that_began_in_no_repository_is_not_looked_at_when_it_ends(tmp_path: Path) -> None:
    folder, other = tmp_path / "project", repository(tmp_path / "other")
    folder.mkdir()
    worker = Worker(name="ann", backend="scripted", directory=str(folder), since=1)
    snapshots = Snapshots(tmp_path / "snapshots", {"ann": worker}.get, tmp_path / "node")

    def hear(turn: str, fact: Fact) -> None:
        snapshots.hear([Event(seq=1, at=0.0, worker="ann", turn=turn, fact=fact)])

    async def looked() -> None:
        # Whoever takes one now waits for the one that is under way.
        await anyio.wait_all_tasks_blocked()
        await snapshots.take(worker, find_repository(other))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(snapshots.run)
        hear("t1", TurnStarted(message=None, text=""))
        await looked()
        git(folder, "init", "-q")
        hear("t1", ENDED)
        hear("t2", TurnStarted(message=None, text=""))
        with anyio.fail_after(SAFETY_SECONDS):
            while not snapshots.of_turn(worker, "t2")[0]:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)
            hear("t2", ENDED)
            while not snapshots.of_turn(worker, "t2")[1]:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)
        assert snapshots.of_turn(worker, "t1") == ("", "")
        tasks.cancel_scope.cancel()


async def test_the_end_of_a_turn_and_the_start_of_the_next_are_one_look(tmp_path: Path) -> None:
    folder = repository(tmp_path / "project")
    worker = Worker(name="ann", backend="scripted", directory=str(folder), since=1)
    snapshots = Snapshots(tmp_path / "snapshots", {"ann": worker}.get, tmp_path / "node")

    async def until(turn: str, place: int) -> None:
        with anyio.fail_after(SAFETY_SECONDS):
            while not snapshots.of_turn(worker, turn)[place]:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)

    def told(turn: str, fact: Fact) -> Event:
        return Event(seq=1, at=0.0, worker="ann", turn=turn, fact=fact)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(snapshots.run)
        snapshots.hear([told("t1", TurnStarted(message=None, text=""))])
        await until("t1", 0)
        (folder / "new.txt").write_text("new\n")
        snapshots.hear([told("t1", ENDED), told("t2", TurnStarted(message=None, text=""))])
        await until("t2", 0)
        (first, end), (start, _) = snapshots.of_turn(worker, "t1"), snapshots.of_turn(worker, "t2")
        assert first != end == start
        tasks.cancel_scope.cancel()
