"""Nothing is lost and nothing is fed twice when the node, a client or the holder itself is killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from tests.live import held_by_another
from tests.live.held_by_another import attached
from tests.live.held_children import (
    BABBLE,
    DEAF,
    SCRIBE,
    begun,
    holding,
    is_running,
    python,
    read_all,
    read_until,
    wait_gone,
)

from farhand.model.holder_ports import Fed
from farhand.sandbox.folder import Folder, Life
from farhand.sandbox.held_child import LOST
from farhand.sandbox.holders import LocalHolders

pytestmark = pytest.mark.anyio
MEGABYTE = 1_000_000


@contextmanager
def another(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A second process that uses the holder, killed with -9 at the end if not before."""
    program = [] if arguments[0] == "-c" else [held_by_another.__file__]
    command = [sys.executable, *program, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """What the other process prints, until it is dead."""
    assert process.stdout is not None
    yield from process.stdout


async def test_a_follower_killed_in_mid_stream_goes_on_where_it_was(tmp_path: Path) -> None:
    received, whole = tmp_path / "received", random.Random(5).randbytes(50 * MEGABYTE)
    chance = random.Random(1)
    async with holding(tmp_path, python(BABBLE, 5, 50 * MEGABYTE)):
        for attempt in range(6):
            with another("follow", tmp_path, received) as process:
                moment = chance.randrange(1, 8 * MEGABYTE)
                begin = received.stat().st_size if received.exists() else 0
                for line in lines(process):
                    if int(line) - begin > moment and attempt < 5:
                        break
        assert received.read_bytes() == whole


async def test_a_thousand_feeds_arrive_once_each_whoever_is_killed(tmp_path: Path) -> None:
    scribe, chance, first, kills = tmp_path / "scribe", random.Random(2), 0, 0
    async with holding(tmp_path, python(SCRIBE, scribe)) as held:
        while first < 1000:
            with another("feed", tmp_path, max(0, first - 3), 1000, 20) as process:
                patience = chance.randrange(2, 120)
                for count, line in enumerate(lines(process)):
                    outcome, number = line.split()
                    assert outcome in ("feeding", "taken")
                    first = max(first, int(number) + (outcome == "taken"))
                    if count > patience:
                        break
            kills += 1
        await held.close()
        assert (await held.wait_exit()).code == 0
    assert [int(line) for line in scribe.read_text().splitlines()] == list(range(1000))
    print(f"1,000 feeds, {kills} processes, each key once and in order")


async def test_a_large_feed_whose_sender_is_killed_is_finished_or_never_begun(tmp_path: Path) -> None:
    async with holding(tmp_path, python(DEAF)) as held:
        await read_until(held, b"deaf\n")
        with another("feed", tmp_path, 1, 2, MEGABYTE) as first:
            assert next(lines(first)) == "feeding 1\n"
            while b"begun" not in (tmp_path / "one" / "ledger").read_bytes():  # noqa: ASYNC110
                await anyio.sleep(0.01)
            with another("feed", tmp_path, 2, 3, 10) as second:
                assert next(lines(second)) == "feeding 2\n"
        assert await held.fed("key 2") is Fed.NOT_TAKEN
        await held.signal("USR1")
        assert await held.fed("key 1") is Fed.TAKEN
        assert await held.feed("key 1", b"again\n") is Fed.TAKEN
        await held.close()
        assert await read_all(held) == b"deaf\n" + b"1".rjust(MEGABYTE) + b"\n"


async def test_a_child_outlives_the_process_that_had_it_started(tmp_path: Path) -> None:
    starter = """
import sys, anyio
from pathlib import Path
from farhand.sandbox.holders import LocalHolders
async def main():
    async with await LocalHolders(Path(sys.argv[1])).start("one", ["cat"], cwd=Path("/"), environment={"PATH": "/bin"}):
        print("started", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""
    with another("-c", starter, tmp_path) as process:
        assert next(lines(process)) == "started\n"
        os.killpg(process.pid, signal.SIGKILL)
    async with await attached(tmp_path) as held:
        assert await held.feed("a", b"still here\n") is Fed.TAKEN
        assert await read_until(held, b"\n") == b"still here\n"
        await held.end(0)


async def test_a_child_does_not_outlive_its_holder(tmp_path: Path) -> None:
    program = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    print(os.getpid(), flush=True)
signal.pause()
"""
    async with holding(tmp_path, python(program)) as held:
        grandchild, child = int(await read_until(held, b"\n")), (await held.status()).pid
        await held.feed("small", b"x")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held.feed, "large", b"x" * MEGABYTE)
            await begun(tmp_path, "large")
            tasks.cancel_scope.cancel()
        os.kill(_life(tmp_path).holder, signal.SIGKILL)
        wait_gone(child)
        assert is_running(grandchild)
        exited = await held.wait_exit()
        assert (exited.code, exited.signal) == (None, None)
        assert LOST in exited.errors
        wait_gone(grandchild)
        assert await held.fed("small") is Fed.TAKEN
        assert await held.fed("large") is Fed.UNKNOWN
        assert await held.feed("large", b"again") is Fed.UNKNOWN
        assert await held.feed("other", b"new") is Fed.NOT_TAKEN
        assert await read_all(held) == f"{grandchild}\n".encode()
    await LocalHolders(tmp_path).forget("one")


async def test_a_follower_sees_the_end_when_the_holder_is_killed(tmp_path: Path) -> None:
    async with holding(tmp_path, python("print('hello', flush=True)\nimport signal\nsignal.pause()")) as held:
        found = b""
        async for chunk, _ in held.follow(0):
            found += chunk
            if found == b"hello\n":
                os.kill(_life(tmp_path).holder, signal.SIGKILL)
        assert found == b"hello\n"


async def test_a_holder_that_is_asked_to_stop_ends_its_child_in_order(tmp_path: Path) -> None:
    program = "import signal, sys; signal.signal(15, lambda *_: sys.exit(5)); print('on', flush=True); signal.pause()"
    async with holding(tmp_path, python(program)) as held:
        await read_until(held, b"on\n")
        os.kill(_life(tmp_path).holder, signal.SIGHUP)
        assert (await held.status()).alive
        os.kill(_life(tmp_path).holder, signal.SIGTERM)
        assert (await held.wait_exit()).code == 5


def _life(root: Path) -> Life:
    folder = Folder(root / "one")
    life = folder.life()
    folder.close()
    assert life is not None
    return life


async def test_a_holder_whose_folder_was_removed_leaves_with_its_child(tmp_path: Path) -> None:
    async with await LocalHolders(tmp_path).start("one", ["cat"], cwd=tmp_path, environment={"PATH": "/bin"}) as held:
        life = _life(tmp_path)
        shutil.rmtree(tmp_path / "one")
        assert (await held.wait_exit()).code is None
        os.kill(life.child, signal.SIGKILL)
        wait_gone(life.holder)
