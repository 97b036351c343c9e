"""A merge from afar: brings a branch up to what a worker has committed, when a verdict that holds lets it."""

from typing import Protocol

from farhand.core.hub import LocalHub
from farhand.model import facts
from farhand.model.errors import CannotDo
from farhand.model.facts import Draft
from farhand.model.present import Worker
from farhand.model.review import FolderNow, ReviewState, passes
from farhand.model.words import Sender

NOT_APPROVED = "Not merged: nobody has approved of {into}..HEAD as it is now. Have these commits judged first."
NOT_COMMITTED = "Not merged: the folder has changes that are not committed."


class MergeTools(Protocol):
    """What a merge needs of the worker's folder."""

    async def now(self, worker: Worker) -> FolderNow:
        """How the worker's folder stands."""
        ...

    async def tip(self, worker: Worker, branch: str) -> str:
        """The commit that the branch is at; raises an error of our tree when there is none."""
        ...

    async def fast_forward(self, worker: Worker, branch: str, before: str, after: str) -> None:
        """Moves the branch from the one commit to the other, which must follow it; raises Refused when it cannot."""
        ...


class Merges:
    """Merges what was judged, and nothing that was not, unless the gate is off."""

    def __init__(self, hub: LocalHub, tools: MergeTools, *, gate: bool) -> None:
        self._hub = hub
        self._tools = tools
        self._gate = gate

    async def merge(self, worker: Worker, into: str, sender: Sender) -> str:
        """The commit that the branch is at afterwards; the fact of it names who wanted it."""
        tip, now = await self._tools.tip(worker, into), await self._tools.now(worker)
        if not now.head or now.tree != now.head_tree:
            raise CannotDo(NOT_COMMITTED)
        by = next((one for one in reversed(worker.reviews) if _covers(one, tip, now)), None)
        if self._gate and by is None:
            raise CannotDo(NOT_APPROVED.format(into=into))
        await self._tools.fast_forward(worker, into, tip, now.head)
        told = f"{into} is at {now.head[:8]} now, " + (
            f"as review #{by.number} approved." if by else "without a review."
        )
        noted = facts.Noted(text=told, by=sender)
        await self._hub.record(worker.name, lambda one: [Draft(worker=one.name, fact=noted)])
        return now.head


def _covers(review: ReviewState, tip: str, now: FolderNow) -> bool:
    """Whether the review judged all that the merge would bring to a branch that is at that commit."""
    return review.binding is not None and review.binding.base == tip and passes(review, now)
