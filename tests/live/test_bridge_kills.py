"""A whole node on the two files of a bridge, killed by -9 again and again while hooks run: nothing lost, nothing twice.

An inbox takes a message a second, which is most of the time that this takes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread
import pytest
from tests.contract.bridge_hooks import HookedProject, read
from tests.house.test_bridge_worker import bridged

from farhand.model.facts import Noted, Queued, Said, TurnEnded
from farhand.model.words import HowEnded

pytestmark = pytest.mark.anyio
# Turns of the agent, and how many of them a life of the node has at most.
ROUNDS = 40
LONGEST_LIFE = 15
NODE = """
import sys
from pathlib import Path
import anyio
from tests.house.test_bridge_worker import bridged
async def main(folder):
    async with bridged(folder, hired=(folder / "hired").exists()) as house:
        (folder / "hired").touch()
        async for line in anyio.wrap_file(sys.stdin):
            await house.say(line.strip(), worker="ann")
            sys.stderr.write(line)
            sys.stderr.flush()
anyio.run(main, Path(sys.argv[1]))
"""


class KilledNode:
    """A node in a process of its own, which is told what a person says; the end of the block kills it."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-c", NODE, str(folder)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def says(self, text: str) -> None:
        """Hands it to the node."""
        assert self._process.stdin is not None
        print(text, file=self._process.stdin, flush=True)

    def has_taken(self) -> str:
        """The next text that the node has written down."""
        assert self._process.stderr is not None
        return self._process.stderr.readline().strip()


def hammer(project: HookedProject) -> tuple[list[str], list[str], list[str]]:
    """What the node had taken before it was killed, what the agent was told, and what it said."""
    chance = Random(5)
    taken: list[str] = []
    told: list[str] = []
    said: list[str] = []
    while len(said) < ROUNDS:
        with KilledNode(project.folder.parent) as node:
            for number in range(len(said), len(said) + chance.randrange(9, LONGEST_LIFE)):
                if number % 4 == 0:
                    node.says(f"node-{number}-")
                # Some are killed before they have written it down.
                if number % 8 == 0:
                    taken.append(node.has_taken())
                told.append(project.context())
                project.after(f"out-{number}-")
                said.append(f"out-{number}-")
    return taken, told, said


async def test_a_node_that_is_killed_again_and_again_tells_everything_once(tmp_path: Path) -> None:
    project = HookedProject(tmp_path, "gemini")
    taken, told, said = await anyio.to_thread.run_sync(hammer, project)
    async with bridged(tmp_path, hired=True) as house:
        while house.worker().turn is not None or house.worker().queue:
            told.append(await anyio.to_thread.run_sync(project.context))
            said.append(f"out-{len(said)}-")
            await anyio.to_thread.run_sync(project.after, said[-1])
        while not all(one["sent"] for one in read(project.outbox)):  # noqa: ASYNC110 - a file rings no bell
            await anyio.sleep(0.01)
        history = await house.history()
    asked = [event.fact for event in history if isinstance(event.fact, Queued)]
    ends = Counter(event.turn for event in history if isinstance(event.fact, TurnEnded))
    given = Counter(re.findall(r"node-\w+-", "".join(told)))
    assert set(taken) <= {fact.text for fact in asked}, "lost"
    assert [fact.text for fact in asked if (ends[fact.message], given[fact.text]) != (1, 1)] == []
    hows = {event.fact.how for event in history if isinstance(event.fact, TurnEnded)}
    assert hows == {HowEnded.COMPLETED}
    heard = Counter(event.fact.text for event in history if isinstance(event.fact, Said | Noted))
    assert [one for one in said if heard[one] != 1] == []
