"""The pipes of workers in sandboxes: one from each of them to everybody, and no descriptor that others need."""

from __future__ import annotations

import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from farhand.channels.files.pipes import PipeEnds, Pipes
from farhand.channels.files.sender_pipes import SenderPipes, make_room
from farhand.model.errors import NodeError
from farhand.model.present import Worker
from farhand.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


class Written:
    """Whoever takes the lines of pipes."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    async def say_line(self, ends: PipeEnds, line: str) -> None:
        self.lines.append((ends.writer, ends.worker, line))

    async def held_up(self, ends: PipeEnds, why: str) -> None:
        raise AssertionError(why)


@pytest.fixture(autouse=True)
def limits() -> Iterator[tuple[int, int]]:
    """How many files this process may open; as it was, afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def team(*names: str) -> dict[str, Worker]:
    return {name: Worker(name=name, since=at, backend="b", directory="/") for at, name in enumerate(names, 1)}


async def test_each_has_one_to_everybody_and_they_follow_the_team(tmp_path: Path) -> None:
    root, written = tmp_path / "pipes", Written()
    # Bob is in no sandbox.
    folder_of = {"ann": root / "ann-1", "cid": root / "cid-3"}
    pipes = SenderPipes(root, lambda worker: folder_of.get(worker.name), Pipes(written, ManualClock()))
    (root / "left-9" / "bob").mkdir(parents=True)
    async with anyio.create_task_group() as tasks:
        await pipes.update(team("ann", "bob"), tasks)
        assert sorted(str(one.relative_to(root)) for one in root.rglob("in.pipe")) == [
            "ann-1/ann/in.pipe",
            "ann-1/bob/in.pipe",
        ]
        assert not (root / "left-9").exists()
        kept = (root / "ann-1").stat().st_ino
        await pipes.update(team("ann", "bob", "cid"), tasks)
        # A sandbox has mounted that very folder.
        assert (root / "ann-1").stat().st_ino == kept
        assert stat.S_IMODE((root / "cid-3/bob/in.pipe").stat().st_mode) == 0o600
        for path in ("ann-1/cid/in.pipe", "cid-3/ann/in.pipe"):
            await anyio.to_thread.run_sync((root / path).write_text, "hello\n")
        with anyio.fail_after(240):
            while len(written.lines) < 2:
                await anyio.lowlevel.checkpoint()
        assert sorted(written.lines) == [("ann", "cid", "hello"), ("cid", "ann", "hello")]
        await pipes.update(team("bob"), tasks)
        assert list(root.iterdir()) == []
        tasks.cancel_scope.cancel()


def test_pipes_take_no_descriptor_that_others_need(limits: tuple[int, int]) -> None:
    soft, hard = 1000, limits[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    make_room(soft, 400)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (1400, hard)
    make_room(soft, 100)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (1400, hard)
    with pytest.raises(NodeError, match="too many for this process"):
        make_room(soft, hard)
