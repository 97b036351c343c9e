"""A writer that floods a pipe: it costs that worker's queue a bounded amount, is told once, and delays nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from tests.spec.team import Team

from farhand.channels.files.pipe_messages import FULL, MOST_WAITING
from farhand.channels.files.pipes import MOST_IN_A_MINUTE, TOO_FAST, TOO_LONG, PipeEnds, Pipes
from farhand.channels.files.worker_files import make_pipe_at
from farhand.model.facts import Said
from farhand.model.provenance import is_by_pipe
from farhand.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


@contextmanager
def shell(script: str) -> Iterator[None]:
    """Runs it beside the test, until the test is done with it."""
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as writer:
        try:
            yield
        finally:
            os.killpg(writer.pid, signal.SIGKILL)


class Taken:
    """Whoever takes the lines of a pipe, at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.troubles: list[str] = []

    async def say_line(self, ends: PipeEnds, line: str) -> None:
        self.lines.append(line)

    async def held_up(self, ends: PipeEnds, why: str) -> None:
        self.troubles.append(why)


async def test_lines_are_taken_at_a_bounded_pace_and_none_is_lost(tmp_path: Path) -> None:
    taken, clock = Taken(), ManualClock()
    pipe, pipes = make_pipe_at(tmp_path / "in.pipe"), Pipes(taken, clock)
    expected = [f"line {number}" for number in range(MOST_IN_A_MINUTE + 5)]
    async with anyio.create_task_group() as tasks:
        pipes.start(pipe, PipeEnds(worker="ann"), tasks)
        await anyio.to_thread.run_sync(pipe.write_text, "".join(f"{line}\n" for line in expected))
        await clock.until_asleep(1)
        assert taken.lines == expected[:MOST_IN_A_MINUTE]
        assert set(taken.troubles) == {TOO_FAST}
        clock.advance(60)
        while len(taken.lines) < len(expected):
            await anyio.lowlevel.checkpoint()
        assert taken.lines == expected
        pipes.stop(pipe)


async def test_a_line_without_end_rests_after_each_piece(tmp_path: Path) -> None:
    taken, clock = Taken(), ManualClock()
    pipe, pipes = make_pipe_at(tmp_path / "in.pipe"), Pipes(taken, clock)
    with shell(f"yes x | tr -d '\\n' > {pipe}"):
        async with anyio.create_task_group() as tasks:
            pipes.start(pipe, PipeEnds(worker="ann"), tasks)
            for _ in range(20):
                await clock.until_asleep(1)
                clock.advance(1)
            assert taken.troubles == [TOO_LONG]
            assert taken.lines == []
            pipes.stop(pipe)


async def test_a_flood_is_bounded_told_once_and_the_manager_goes_first(team: Team) -> None:
    await team.asks("/team")
    await team.hire("ann")
    team.claude.plays(Said(text="busy"))
    await team.manager.says("@ann work")
    await team.until_told("work")
    flood = f"i=0; while [ $i -lt 3000 ]; do echo flood $i; i=$((i+1)); done > {team.pipe('ann')}"
    with shell(flood):
        await team.manager.reads(FULL)
        waiting = [one for one in team.house.worker("ann").queue if is_by_pipe(one.by)]
        assert len(waiting) == MOST_WAITING
        await team.manager.says("@ann first this")
        await team.house.until(lambda present: present.workers["ann"].queue[0].text == "first this")
        await team.house.interrupt("ann")
        await team.until_told("flood 9")
        assert team.told("ann")[:2] == ["work", "first this"]
        chat = await team.bot.messages(4242)
        assert sum("'s pipe, a program on this machine" in one.text for one in chat) == 1
