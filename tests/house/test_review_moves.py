"""The moves of reviews that overlap: none is lost, and none wakes the others for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.lowlevel
import pytest
from tests.house.folding_hub import FoldingHub, PausingClock, until

from farhand.core.moves import PAUSE_SECONDS, Moves
from farhand.core.reviews import Reviews
from farhand.model.facts import TurnEnded
from farhand.model.present import Worker
from farhand.model.review import FolderNow, ReviewBinding, ReviewPhase, ReviewState
from farhand.model.words import HowEnded
from farhand.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
CHECKPOINTS = 3000
MOST_MOVES = 30
ENDED = TurnEnded(how=HowEnded.COMPLETED)
JUDGED = ReviewState(
    id="r1", number=1, reviewers=(), phase=ReviewPhase.OVER, binding=ReviewBinding(base="b", head="h", tree="judged")
)
ANN = Worker(name="ann", since=1, backend="demo", directory="/srv", online=True, reviews=(JUDGED,))


class WatchedFolder:
    """A folder whose state the test sets; a look at it ends when the test lets it."""

    def __init__(self) -> None:
        self.tree = "judged"
        self.looks = 0
        self.go_on = anyio.Event()

    async def now(self, _worker: Worker) -> FolderNow:
        """As it was when the look began."""
        seen = FolderNow(head="h", tree=self.tree)
        self.looks += 1
        await self.go_on.wait()
        return seen

    async def keep_only(self, _reviews: Collection[str]) -> None:
        """There are no copies."""


@asynccontextmanager
async def reviewing(hub: FoldingHub, folder: WatchedFolder, clock: ManualClock) -> AsyncIterator[None]:
    """Reviews that are moved on while the block runs."""
    reviews = Reviews(hub, clock, folder)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reviews.run)
        yield
        tasks.cancel_scope.cancel()


def is_stale(hub: FoldingHub) -> bool:
    return hub.present.workers["ann"].reviews[0].stale


async def test_a_turn_that_ends_while_the_folder_is_looked_at_has_it_looked_at_again() -> None:
    hub, folder = FoldingHub(ANN), WatchedFolder()
    async with reviewing(hub, folder, PausingClock()):
        hub.happens(ENDED)
        await until(lambda: folder.looks == 1)
        folder.tree = "changed"
        hub.happens(ENDED)
        folder.go_on.set()
        await until(lambda: is_stale(hub))
    assert folder.looks == 2


async def test_a_folder_whose_state_could_not_be_written_down_is_looked_at_again() -> None:
    hub, folder, clock = FoldingHub(ANN), WatchedFolder(), PausingClock()
    folder.tree, hub.full = "changed", True
    folder.go_on.set()
    async with reviewing(hub, folder, clock):
        hub.happens(ENDED)
        await until(lambda: PAUSE_SECONDS in clock.pauses)
        assert not is_stale(hub)
        clock.advance(PAUSE_SECONDS)
        await until(lambda: is_stale(hub))


async def test_moves_that_overlap_come_to_rest() -> None:
    made: list[str] = []

    async def move(name: str) -> None:
        made.append(name)
        # Of different lengths: each ends while another is under way.
        for _ in range(40 + 15 * (len(made) % 3)):
            await anyio.lowlevel.checkpoint()

    moves = Moves(ManualClock(), lambda: [(name, partial(move, name)) for name in "abc"], lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(moves.run)
        await until(lambda: len(made) == 3)
        moves.wake()
        for _ in range(CHECKPOINTS):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert sorted(made[:6]) == sorted("abcabc")
    assert len(made) <= MOST_MOVES, made
