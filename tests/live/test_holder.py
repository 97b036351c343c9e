"""A holder keeps its child, its output and its inputs, whatever clients and children do."""

import asyncio
import json
import os
import random
import resource
import signal
import socket
import sys
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.live.held_children import BABBLE, DEAF, begun, holding, is_running, python, read_all, read_until, wait_gone

from farhand.cli.end_node import end_held
from farhand.model.errors import AgentMissing, BadName, DriverError, TooLarge
from farhand.model.holder_ports import Exit, Fed
from farhand.sandbox.folder import Folder
from farhand.sandbox.held_child import FEED_LIMIT, HeldChild
from farhand.sandbox.holders import PROGRAM, LocalHolders
from farhand.testing.clock import SAFETY_SECONDS

pytestmark = pytest.mark.anyio
MEGABYTE = 1_000_000


async def test_output_of_50_megabytes_arrives_byte_for_byte(tmp_path: Path) -> None:
    async with holding(tmp_path, python(BABBLE, 7, 50 * MEGABYTE)) as held:
        assert await read_all(held) == random.Random(7).randbytes(50 * MEGABYTE)
        assert await held.wait_exit() == Exit(code=0)


async def test_offsets_are_those_after_each_piece(tmp_path: Path) -> None:
    async with holding(tmp_path, python(BABBLE, 8, MEGABYTE)) as held:
        whole, place = random.Random(8).randbytes(MEGABYTE), 0
        async for chunk, after in held.follow(0):
            assert whole[place:after] == chunk
            place = after
        assert await read_all(held, 999_990) == whole[-10:]
        assert await read_all(held, MEGABYTE) == b""


async def test_a_child_gets_exactly_the_environment_of_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "1:secret")
    environment = {"PATH": "/usr/bin:/bin", "GREETING": "grüß dich"}
    async with holding(tmp_path, ["cat", "/proc/self/environ", "-"], environment=environment) as held:
        found = await read_until(held, b"dich\0")
        assert dict(pair.split("=", 1) for pair in found.decode().split("\0") if pair) == environment
        assert _proc(tmp_path, "environ") == ""
        assert not (tmp_path / "one" / "order.json").exists()


async def test_a_child_that_is_ended_before_its_holder_has_begun_is_never_started(tmp_path: Path) -> None:
    """On a busy machine a node may be stopped while the program of a holder is still loaded."""
    root, began = tmp_path / "holders", tmp_path / "began"
    root.mkdir()
    (root / "one").mkdir(mode=0o700)
    words, environment = ["touch", str(began)], {"PATH": "/usr/bin:/bin"}
    order = {"argv": words, "cwd": str(tmp_path), "env": environment, "err_limit": 1000, "user": None, "owned": False}
    with closing(Folder(root / "one")) as folder:
        folder.write_order(order)
    assert await anyio.to_thread.run_sync(end_held, root) == []
    late = await anyio.run_process([sys.executable, "-I", "-S", str(PROGRAM), str(root / "one")])
    assert json.loads(late.stdout)["error"] == "order"
    assert not began.exists()
    async with await LocalHolders(root).start("one", words, cwd=tmp_path, environment=environment) as held:
        assert await held.wait_exit() == Exit(code=0)
    assert began.exists()


async def test_a_holder_has_its_own_session_and_no_terminal(tmp_path: Path) -> None:
    async with holding(tmp_path, ["cat"]) as held:
        fields = _proc(tmp_path, "stat").rpartition(")")[2].split()
        assert int(fields[3]) == _holder(tmp_path)
        assert int(fields[4]) == 0
        assert os.getsid((await held.status()).pid) == (await held.status()).pid


async def test_an_idle_holder_is_small_and_never_wakes(tmp_path: Path) -> None:
    async with holding(tmp_path, ["cat"]):
        await _quiet_for_a_second(_holder(tmp_path))
        rss_kilobytes = _status(_holder(tmp_path), "VmRSS")
        print(f"RSS of an idle holder: {rss_kilobytes / 1024:.1f} MB")
        assert rss_kilobytes <= 12 * 1024


async def test_output_that_was_read_gives_its_room_back_and_offsets_stay(tmp_path: Path) -> None:
    async with holding(tmp_path, python(BABBLE, 9, 8 * MEGABYTE)) as held:
        whole = await read_all(held)
        await held.release(7 * MEGABYTE)
        found = (tmp_path / "one" / "out").stat()
        assert found.st_size == len(whole) == 8 * MEGABYTE
        assert found.st_blocks * 512 < 2 * MEGABYTE
        assert await read_all(held, 7 * MEGABYTE) == whole[7 * MEGABYTE :]


async def test_feeding_is_done_once_for_each_key(tmp_path: Path) -> None:
    async with holding(tmp_path, ["cat"]) as held:
        assert await held.fed("a") is Fed.NOT_TAKEN
        for _ in range(3):
            assert await held.feed("a", b"one\n") is Fed.TAKEN
        assert await held.feed("b", b"two\n") is Fed.TAKEN
        assert await held.fed("a") is Fed.TAKEN
        await held.close()
        assert await read_all(held) == b"one\ntwo\n"
        assert await held.feed("c", b"three\n") is Fed.NOT_TAKEN
    async with await _attached(tmp_path) as later:
        assert await later.fed("a") is Fed.TAKEN
        assert await later.feed("a", b"one\n") is Fed.TAKEN
        assert await later.fed("c") is Fed.NOT_TAKEN


async def test_a_feed_waits_for_a_child_that_does_not_read_and_stops_nobody(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(MEGABYTE)
    async with holding(tmp_path, python(DEAF)) as held:
        await read_until(held, b"deaf\n")
        answers: list[Fed] = []

        async def feed(key: str) -> None:
            answers.append(await held.feed(key, data))

        async with anyio.create_task_group() as tasks:
            for key in ("a", "a", "b"):
                tasks.start_soon(feed, key)
            await begun(tmp_path)
            assert (await held.status()).alive
            assert answers == []
            await held.signal("USR1")
        assert answers == [Fed.TAKEN] * 3
        await held.close()
        assert await read_all(held) == b"deaf\n" + data + data


async def test_a_cancelled_feed_is_taken_back_unless_it_was_begun(tmp_path: Path) -> None:
    async with holding(tmp_path, python(DEAF)) as held, anyio.create_task_group() as tasks:
        await read_until(held, b"deaf\n")
        tasks.start_soon(held.feed, "begun", b"x" * MEGABYTE)
        await begun(tmp_path)
        with anyio.move_on_after(0.1):
            await held.feed("waiting", b"never\n")
        assert await held.fed("waiting") is Fed.NOT_TAKEN
        tasks.cancel_scope.cancel()
    async with await _attached(tmp_path) as later:
        assert await later.fed("begun") is Fed.UNKNOWN


async def test_a_child_that_ends_leaves_its_last_words(tmp_path: Path) -> None:
    program = "import os, sys; os.write(1, b'x' * 60_000); os.write(2, b'why'); os.kill(os.getpid(), 9)"
    async with holding(tmp_path, python(program)) as held:
        assert await held.wait_exit() == Exit(signal=9, errors="why")
        assert await read_all(held) == b"x" * 60_000
        assert not (await held.status()).alive


async def test_the_exit_is_written_after_the_whole_output(tmp_path: Path) -> None:
    # A pipe of the largest size: the holder has most of it to read when the child is dead.
    program = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, b'x' * 1_000_000); os.kill(os.getpid(), 9)"
    async with holding(tmp_path, python(program)) as held:
        await held.wait_exit()
        assert json.loads((tmp_path / "one" / "exit").read_text())["size"] == MEGABYTE


async def test_a_child_that_ends_at_once_is_found_with_its_code(tmp_path: Path) -> None:
    async with holding(tmp_path, ["sh", "-c", "exit 7"]) as held:
        assert await held.wait_exit() == Exit(code=7)
        assert await held.feed("a", b"late\n") is Fed.NOT_TAKEN
        await held.signal("INT")
    async with await _attached(tmp_path) as later:
        assert await later.wait_exit() == Exit(code=7)
        assert await read_all(later) == b""
        assert (await later.status()).code == 7


async def test_only_the_last_part_of_stderr_is_kept(tmp_path: Path) -> None:
    holders = LocalHolders(tmp_path, error_bytes=1000)
    program = "import sys\nfor number in range(10_000): print(number, file=sys.stderr)"
    async with await holders.start("one", python(program), cwd=tmp_path, environment={}) as held:
        exited = await held.wait_exit()
        await held.end(0)
    kept = (tmp_path / "one" / "err").read_text()
    assert len(kept) <= 1000
    assert kept.endswith("9998\n9999\n")
    assert exited.code == 0


async def test_what_a_child_leaves_in_its_group_ends_with_it(tmp_path: Path) -> None:
    program = """
import os, signal, sys
reader, writer = os.pipe()
if os.fork():
    os.read(reader, 1)
    sys.exit(3)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
os.write(writer, b"x")
signal.pause()
"""
    async with holding(tmp_path, python(program)) as held:
        grandchild = int(await read_until(held, b"\n"))
        assert (await held.wait_exit()).code == 3
        await held.end(0)
        wait_gone(grandchild)


async def test_an_owned_one_ends_with_its_owner(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    holders = LocalHolders(tmp_path, owner=reader)
    async with await holders.start("one", ["sleep", "600"], cwd=tmp_path, environment=dict(os.environ)) as held:
        assert (await held.status()).alive
        os.close(reader)
        assert (await held.status()).alive
        os.close(writer)
        assert await held.wait_exit() == Exit(signal=signal.SIGTERM)


async def test_end_asks_first_and_kills_after_the_grace(tmp_path: Path) -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); signal.pause()"
    async with holding(tmp_path, python(stubborn)) as held:
        await read_until(held, b"on\n")
        await held.end(0.05)
        assert (await held.wait_exit()).signal == signal.SIGKILL
    polite = "import signal, sys; signal.signal(15, lambda *_: sys.exit(4)); print('on', flush=True); signal.pause()"
    async with holding(tmp_path, python(polite), name="two") as held:
        await read_until(held, b"on\n")
        await held.end(30)
        assert (await held.wait_exit()).code == 4


async def test_a_client_that_hangs_costs_no_memory_and_stops_nobody(tmp_path: Path) -> None:
    whole, read = random.Random(3).randbytes(30 * MEGABYTE), bytearray()
    # It stays when it has said all: a holder leaves soon after its child.
    async with holding(tmp_path, python(f"{BABBLE}\nsys.stdin.read()", 3, 30 * MEGABYTE)) as held:
        hung = [_connected(tmp_path) for _ in range(8)]
        for client in hung:
            client.sendall(b'{"op": "follow", "from": 0}\n')
        async for chunk, after in held.follow(0):
            read += chunk
            if after == len(whole):
                break
        assert read == whole
        assert _status(_holder(tmp_path), "VmHWM") <= 20 * 1024
        for client in hung:
            client.close()


async def test_a_holder_serves_so_many_clients_and_tells_the_next(tmp_path: Path) -> None:
    async with holding(tmp_path, ["cat"]) as held:
        clients = [_connected(tmp_path) for _ in range(64)]
        for client in clients:
            client.sendall(b'{"op": "status"}\n')
            assert b'"alive": true' in client.recv(1000)
        # It hangs up at once: some hear of it before they have asked, some after.
        for _ in range(50):
            with pytest.raises(DriverError, match="64 clients"):
                await held.status()
        clients.pop().close()
        assert (await held.status()).alive
        for client in clients:
            client.close()


async def test_a_full_disk_stops_the_child_and_loses_nothing(tmp_path: Path) -> None:
    unlimited = resource.RLIM_INFINITY
    async with holding(tmp_path, ["cat"]) as held:
        resource.prlimit(_holder(tmp_path), resource.RLIMIT_FSIZE, (100_000, unlimited))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held.feed, "a", b"x" * 500_000)
            while not (await held.status()).trouble:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        resource.prlimit(_holder(tmp_path), resource.RLIMIT_FSIZE, (unlimited, unlimited))
        assert await held.fed("a") is Fed.TAKEN
        await held.close()
        assert await read_all(held) == b"x" * 500_000


async def test_what_cannot_be_started_is_told_in_a_sentence(tmp_path: Path) -> None:
    holders = LocalHolders(tmp_path)
    environment = {"PATH": "/usr/bin:/bin"}
    (tmp_path / "text").write_text("no program")
    with pytest.raises(AgentMissing, match="No program called 'no-such-agent'"):
        await holders.start("one", ["no-such-agent"], cwd=tmp_path, environment=environment)
    with pytest.raises(AgentMissing, match="cannot be run: Permission denied"):
        await holders.start("one", [str(tmp_path / "text")], cwd=tmp_path, environment=environment)
    with pytest.raises(DriverError, match=r"cannot work in .*nowhere: No such file"):
        await holders.start("one", ["cat"], cwd=tmp_path / "nowhere", environment=environment)
    with pytest.raises(DriverError, match="null byte"):
        await holders.start("one", ["cat", "\0"], cwd=tmp_path, environment=environment)
    with pytest.raises(BadName):
        await holders.start("../one", ["cat"], cwd=tmp_path, environment=environment)
    with pytest.raises(DriverError, match="cannot be started with"):
        await LocalHolders(tmp_path, python="/no/python").start("two", ["cat"], cwd=tmp_path, environment={})
    assert await holders.attach("one") is None
    assert await holders.attach("never") is None
    async with holding(tmp_path, ["cat"]) as held:  # nothing of the failed starts is in the way
        assert await held.feed("a", b"hello\n") is Fed.TAKEN
        with pytest.raises(TooLarge):
            await held.feed("b", b"x" * (FEED_LIMIT + 1))


async def test_a_folder_has_one_holder_and_one_life(tmp_path: Path) -> None:
    holders = LocalHolders(tmp_path)
    async with holding(tmp_path, ["cat"]) as held:
        with pytest.raises(DriverError, match="another holder"):
            await holders.start("one", ["cat"], cwd=tmp_path, environment={})
        assert (await held.status()).alive
    with pytest.raises(DriverError, match="has had its child"):
        await holders.start("one", ["cat"], cwd=tmp_path, environment={})
    await holders.forget("one")
    await holders.forget("one")
    assert await holders.attach("one") is None
    async with holding(tmp_path, ["cat"]) as held:
        assert (await held.status()).alive


async def test_forget_ends_what_runs(tmp_path: Path) -> None:
    holders = LocalHolders(tmp_path)
    async with await holders.start("one", ["cat"], cwd=tmp_path, environment={"PATH": "/bin"}) as held:
        child = (await held.status()).pid
    await holders.forget("one")
    assert not is_running(child)
    assert not (tmp_path / "one").exists()


async def test_a_long_path_is_no_hindrance(tmp_path: Path) -> None:
    root = tmp_path / ("long" * 30) / ("path" * 30)
    root.mkdir(parents=True)
    async with holding(root, ["cat"]) as held:
        assert await held.feed("a", b"far\n") is Fed.TAKEN
        assert await read_until(held, b"far\n") == b"far\n"


async def test_a_client_may_be_cancelled_in_the_very_pass_that_brings_its_answer(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    loop = asyncio.get_running_loop()
    with closing(Folder(tmp_path)) as folder, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "sock"))
        door.listen()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(HeldChild(folder).wait_exit)
            await anyio.wait_readable(door)
            with door.accept()[0] as client:
                await anyio.wait_readable(client)

                def answer_and_cancel() -> None:
                    client.send(b"{}")
                    loop.call_soon(tasks.cancel_scope.cancel)

                loop.call_soon(answer_and_cancel)
                await anyio.sleep_forever()
    # What an event loop is told behind everybody's back fails the test.


async def test_a_folder_that_others_can_reach_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(DriverError, match="open to others"):
        await LocalHolders(tmp_path).start("one", ["cat"], cwd=tmp_path, environment={})
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        with pytest.raises(DriverError, match="belongs to another user"):
            await LocalHolders(tmp_path).attach("one")
    (tmp_path / "two").symlink_to(folder)
    with pytest.raises(NotADirectoryError):
        await LocalHolders(tmp_path).attach("two")


def _holder(root: Path) -> int:
    folder = Folder(root / "one")
    life = folder.life()
    folder.close()
    assert life is not None
    return life.holder


def _proc(root: Path, name: str) -> str:
    return Path(f"/proc/{_holder(root)}/{name}").read_text()


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _wakings(pid: int) -> tuple[int, int]:
    """Ticks of the processor used, and how often the process went to sleep."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]), _status(pid, "voluntary_ctxt_switches")


async def _quiet_for_a_second(pid: int) -> None:
    """Waits for a second in which the process does nothing; what it does at its start may be late on a busy machine."""
    with anyio.fail_after(SAFETY_SECONDS):
        while True:
            before = _wakings(pid)
            await anyio.run_process(["sleep", "1"])
            if _wakings(pid) == before:
                return


async def _attached(root: Path) -> AbstractAsyncContextManager[HeldChild]:
    found = await LocalHolders(root).attach("one")
    assert found is not None
    return found


def _connected(root: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    folder = os.open(root / "one", os.O_RDONLY)
    client.connect(f"/proc/self/fd/{folder}/sock")
    os.close(folder)
    return client
