"""A repository, reviewers that say what a test wants, and a wait for the end of a review."""

from __future__ import annotations

import json
import re
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from farhand.model.commands import Review
from farhand.model.facts import Fact, ReviewMoved, Said, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.review import ReviewScope, ReviewState
from farhand.model.words import HowEnded
from farhand.testing.clock import ManualClock
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

COMPLETED = TurnEnded(how=HowEnded.COMPLETED)
_MARK = re.compile(r"----- BEGIN DATA ([0-9a-f]+) -----")
HOLE = {"severity": "P1", "path": "a.py", "line": 1, "title": "It breaks."}


def git(folder: Path, *words: str) -> str:
    """Git in that folder."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    (folder / "a.py").write_text("print(1)\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "start")
    return folder


class ReviewingDriver(ScriptedDriver):
    """Agents that give the next of the verdicts that a test wants, with the mark that they were told."""

    def __init__(self, backend: str = "critic", **fields: Any) -> None:
        super().__init__(backend=backend)
        self.usual = {"verdict": "approve", **fields}
        self.verdicts: deque[dict[str, Any]] = deque()

    def says(self, verdict: str, *findings: dict[str, Any], **fields: Any) -> None:
        """The next review gets this verdict."""
        self.verdicts.append({"verdict": verdict, "findings": list(findings), **fields})

    def default(self, errand: Deliver) -> Sequence[Fact]:
        """A verdict on whatever is to be judged."""
        mark = _MARK.search(errand.message.text)
        told = self.verdicts.popleft() if self.verdicts else self.usual
        answer = json.dumps({"review": mark[1] if mark else "", **told})
        return (Said(text=f"I have read it.\n{answer}"), COMPLETED)


@asynccontextmanager
async def reviewed_house(
    folder: Path, *critics: ReviewingDriver, agent: ScriptedDriver | None = None, clock: ManualClock | None = None
) -> AsyncIterator[House]:
    """A house with agents that judge."""
    extra = {critic.backend: critic for critic in critics}
    async with open_house(folder, agent, clock=clock, drivers=extra) as house:
        yield house


@asynccontextmanager
async def changed_shop(
    folder: Path, *critics: ReviewingDriver, agent: ScriptedDriver | None = None, clock: ManualClock | None = None
) -> AsyncIterator[tuple[House, Path]]:
    """Such a house, in which ann works in a repository with one changed line."""
    shop = repository(folder / "shop")
    async with reviewed_house(folder, *critics, agent=agent, clock=clock) as house:
        await house.hire(directory=shop)
        (shop / "a.py").write_text("print(2)\n")
        yield house, shop


async def over(house: House, number: int = 1, worker: str = "ann") -> ReviewState:
    """The review of that number, once it is over."""

    def is_it(event: Any) -> bool:
        return bool(event.worker == worker and event.fact.review.number == number and event.fact.ended)

    return (await house.fact(ReviewMoved, is_it)).review


async def review(house: House, *by: str, scope: ReviewScope = ReviewScope.TREE, **fields: Any) -> None:
    """Asks for one."""
    await house.send(Review(id=house.id(), worker="ann", scope=scope, by=by, **fields))
