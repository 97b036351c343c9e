"""The context: files kept inside the workspace, and a shell whose commands end when they should."""

from __future__ import annotations

import os
import re
import selectors
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from farhand.sdk.context import LiveContext
from farhand.sdk.errors import SdkError
from farhand.sdk.shell import finished
from farhand.sdk.shell_process import Limits, RunningCommand
from farhand.sdk.workspace import OutsideWorkspace
from farhand.testing.sdk_env import sdk_context, until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[LiveContext]:
    (tmp_path / "project").mkdir()
    made = sdk_context(tmp_path / "project", environ={"GEMINI_API_KEY": "secret", "GITHUB_TOKEN": "kept"})
    yield made
    await made.close()


def alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pid: int) -> None:
    await until(lambda: not alive(pid))


async def test_who_and_where(context: LiveContext, tmp_path: Path) -> None:
    assert context.cwd == str(tmp_path / "project")
    assert context.session_id == context.session.id
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", context.timestamp)
    assert list(context.transcript) == []


async def test_files_are_read_and_written_whole(context: LiveContext) -> None:
    await context.fs.write("new/folder/a.txt", "text\r\nmore\n")
    assert await context.fs.read("new/folder/a.txt") == "text\r\nmore\n"
    assert await context.fs.read("gone.txt") is None
    assert await context.fs.read("new") is None
    assert [path.name for path in (Path(context.cwd) / "new" / "folder").iterdir()] == ["a.txt"]


async def test_a_file_keeps_its_mode(context: LiveContext) -> None:
    script = Path(context.cwd) / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    await context.fs.write("run.sh", "new")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o750)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "link/secret.txt", "file-link", "a/../../secret.txt", "nul\0"]
)
async def test_nothing_outside_the_workspace(context: LiveContext, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (Path(context.cwd) / "link").symlink_to(tmp_path)
    (Path(context.cwd) / "file-link").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(OutsideWorkspace, match="outside the workspace"):
        await context.fs.read(path)
    with pytest.raises(OutsideWorkspace):
        await context.fs.write(path, "overwritten")
    assert (tmp_path / "secret.txt").read_text() == "secret"


async def test_what_tools_left_may_be_read_and_not_written(context: LiveContext) -> None:
    left = context.temporary_folder / "long.txt"
    left.parent.mkdir(parents=True)
    left.write_text("long")
    assert await context.fs.read(str(left)) == "long"
    with pytest.raises(OutsideWorkspace):
        await context.fs.write(str(left), "changed")


async def test_links_inside_the_workspace_are_fine_and_loops_are_nothing(context: LiveContext) -> None:
    folder = Path(context.cwd)
    (folder / "real.txt").write_text("real")
    (folder / "link.txt").symlink_to("real.txt")
    (folder / "loop").symlink_to("loop")
    assert await context.fs.read("link.txt") == "real"
    assert await context.fs.read("loop") is None


async def test_exec_tells_both_streams_and_the_exit_code(context: LiveContext) -> None:
    result = await context.shell.exec("echo out; sleep 0.05; echo err >&2; exit 3")
    assert (result.exit_code, result.stdout, result.stderr, result.output) == (3, "out\n", "err\n", "out\nerr\n")


async def test_exec_sees_its_variables_and_not_the_model_keys(context: LiveContext) -> None:
    result = await context.shell.exec('echo "$MORE|$GEMINI_API_KEY|$GITHUB_TOKEN|$PWD"', env={"MORE": "more"})
    assert result.stdout == f"more||kept|{context.cwd}\n"


async def test_redaction_hides_every_secret_when_it_is_switched_on(tmp_path: Path) -> None:
    raw = {
        "security": {"environmentVariableRedaction": {"enabled": True, "allowed": ["MY_TOKEN"], "blocked": ["PLAIN"]}}
    }
    environ = {"MY_TOKEN": "1", "OTHER_TOKEN": "2", "DB_PASSWORD": "3", "PLAIN": "4", "SEEN": "5"}
    context = sdk_context(tmp_path, raw=raw, environ=environ)
    result = await context.shell.exec('echo "$MY_TOKEN|$OTHER_TOKEN|$DB_PASSWORD|$PLAIN|$SEEN"')
    assert result.stdout == "1||||5\n"


async def test_exec_has_no_input_to_wait_for(context: LiveContext) -> None:
    assert (await context.shell.exec("cat; echo done")).stdout == "done\n"


async def test_a_late_command_ends_with_its_whole_group(context: LiveContext) -> None:
    command = "trap '' TERM; (trap '' TERM; echo $BASHPID; exec sleep 1000) & echo $$; wait"
    running = context.shell.launch(command, limits=Limits(timeout_seconds=3, grace_seconds=0.1), text="")
    result = await finished(running)
    assert result.timed_out
    assert result.exit_code == -9
    pids = [int(line) for line in result.output.split()]
    assert len(pids) == 2
    for pid in pids:
        await gone(pid)


async def test_an_interrupted_command_ends(context: LiveContext) -> None:
    marker = Path(context.cwd) / "pid"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(context.shell.exec, "echo $$ > pid; sleep 1000")
        await until(lambda: marker.exists() and bool(marker.read_text()))
        tasks.cancel_scope.cancel()
    await gone(int(marker.read_text()))


async def test_a_silent_command_ends_and_a_talking_one_does_not(context: LiveContext) -> None:
    silent = context.shell.launch("sleep 1000", limits=Limits(silence_seconds=0.2), text="")
    assert (await finished(silent)).timed_out
    talking = context.shell.launch(
        "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done", limits=Limits(silence_seconds=60), text=""
    )
    assert not (await finished(talking)).timed_out


async def test_a_flood_is_bounded_and_the_rest_is_kept(context: LiveContext, tmp_path: Path) -> None:
    spill = tmp_path / "spill" / "out.txt"
    limits = Limits(output_bytes=10_000, spill=spill)
    running = context.shell.launch("seq 1 200000", limits=limits, text="")
    result = await finished(running)
    assert len(result.output) < 11_000
    assert result.output.startswith("1\n2\n")
    assert result.output.endswith("200000\n")
    assert str(spill) in result.output
    assert spill.read_text() == "".join(f"{n}\n" for n in range(1, 200_001))
    assert spill.stat().st_mode & 0o777 == 0o600


async def test_an_endless_flood_ends_in_time(context: LiveContext) -> None:
    result = await finished(context.shell.launch("yes", limits=Limits(timeout_seconds=0.3, output_bytes=1000), text=""))
    assert result.timed_out
    assert len(result.output) < 1200


async def test_bytes_that_are_no_text_are_replaced(context: LiveContext) -> None:
    assert (await context.shell.exec(r"printf '\xff\x00ok'")).output == "\ufffd\x00ok"


async def test_a_child_that_keeps_the_pipe_does_not_hold_us(context: LiveContext) -> None:
    with anyio.fail_after(240):
        result = await context.shell.exec("sleep 1000 & echo $!")
    pid = int(result.stdout)
    assert alive(pid)
    await context.close()
    await gone(pid)


async def test_a_system_without_process_descriptors_works_too(
    context: LiveContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert (await context.shell.exec("echo out; exit 3")).exit_code == 3
    late = context.shell.launch("sleep 1000 & echo $!; exit", limits=Limits(timeout_seconds=240), text="")
    os.kill(int((await finished(late)).stdout), 9)


async def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    # A limit on the size of files is the nearest thing to a full disk that needs no disk.
    script = """
import resource, sys
from pathlib import Path
from farhand.sdk.output import Collected
from farhand.sdk.workspace import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(Path("a.txt"), "new" * 1000)
except OSError as error:
    print(error.strerror)
collected = Collected(100, Path("spill"))
collected.add(b"x" * 5000)
collected.close()
print(collected.kept_in, len(collected.text()) < 300)
"""
    (tmp_path / "a.txt").write_text("old")
    ended = await anyio.run_process([sys.executable, "-c", script], cwd=tmp_path)
    assert ended.stdout.decode() == "File too large\nNone True\n"
    assert (tmp_path / "a.txt").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "spill"]


async def test_start_is_a_conversation(context: LiveContext) -> None:
    process = await context.shell.start("read a; echo got $a; read b; echo and $b >&2; cat")
    lines = process.lines()
    await process.write("one\n")
    assert await anext(lines) == "got one"
    await process.write("two\n")
    assert await anext(lines) == "and two"
    await process.write("rest without an end")
    await process.close_stdin()
    assert [line async for line in lines] == ["rest without an end"]
    assert (await process.wait()).exit_code == 0


async def test_a_slow_reader_gets_every_line(context: LiveContext) -> None:
    process = await context.shell.start("seq 1 100000")
    count = 0
    async for line in process.lines():
        count += 1
        assert line == str(count)
    assert count == 100_000


async def test_a_reader_slower_than_the_command_lives_gets_every_line(
    context: LiveContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.sdk.output_follower.LARGEST_UNREAD_LINES", 10)
    monkeypatch.setattr("farhand.sdk.output_follower.DRAIN_SECONDS", 0.05)
    process = await context.shell.start("seq 1 500; seq 501 10000")
    lines = process.lines()
    assert await anext(lines) == "1"
    await gone(process.pid)
    late = time.monotonic() + 0.1
    await until(lambda: time.monotonic() > late)
    assert [int(line) async for line in lines] == list(range(2, 10_001))


async def test_a_command_whose_lines_nobody_reads_can_be_killed(
    context: LiveContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.sdk.output_follower.LARGEST_UNREAD_LINES", 10)
    process = await context.shell.start("seq 1 5000")
    await gone(process.pid)
    with anyio.fail_after(240):
        await process.kill()


async def test_lines_that_nobody_reads_do_not_block_the_end(context: LiveContext) -> None:
    process = await context.shell.start("seq 1 100000; echo last")
    with anyio.fail_after(240):
        result = await process.wait()
    assert result.output.endswith("last\n")


class SlowSelector(selectors.DefaultSelector):
    """Looks late, so that everything a short command does is there in the same moment."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        time.sleep(0.1)
        return super().select(timeout)


async def test_what_happens_in_one_moment_is_no_problem(context: LiveContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farhand.sdk.output_follower.LARGEST_UNREAD_LINES", 20)
    monkeypatch.setattr(selectors, "DefaultSelector", SlowSelector)
    process = await context.shell.start("seq 1 100")
    with anyio.fail_after(240):
        assert [int(line) async for line in process.lines()] == list(range(1, 101))
        assert (await process.wait()).exit_code == 0


async def test_writing_to_a_process_that_ended_does_not_hang(context: LiveContext) -> None:
    process = await context.shell.start("exec 0<&-; sleep 0.05")
    with anyio.fail_after(240):
        await process.write("x" * 1_000_000)
    await process.wait()


async def test_a_started_process_can_be_killed(context: LiveContext) -> None:
    process = await context.shell.start("sleep 1000")
    await process.kill()
    assert (await process.wait()).exit_code == -15


async def test_closing_the_session_ends_what_runs(context: LiveContext) -> None:
    process = await context.shell.start("sleep 1000")
    await context.close()
    assert isinstance(process, RunningCommand)
    assert not alive(process.pid)


async def test_many_commands_at_once(context: LiveContext) -> None:
    outputs: list[str] = []

    async def one(number: int) -> None:
        outputs.append((await context.shell.exec(f"echo {number}")).stdout)

    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(one, number)
    assert sorted(int(output) for output in outputs) == list(range(60))


# Folders, patterns, bytes.


async def test_files_are_listed_found_and_removed(context: LiveContext, tmp_path: Path) -> None:
    await context.fs.write_bytes("src/a.bin", b"\x00\xff")
    await context.fs.write("src/deep/b.py", "pass\n")
    assert await context.fs.read_bytes("src/a.bin") == b"\x00\xff"
    assert await context.fs.read_bytes("nothing") is None
    assert await context.fs.list("src") == ["a.bin", "deep/"]
    assert await context.fs.list("nowhere") == []
    assert await context.fs.glob("**/*.py") == ["src/deep/b.py"]
    assert [await context.fs.delete("src/a.bin"), await context.fs.delete("src/a.bin")] == [True, False]
    with pytest.raises(SdkError, match="is a folder"):
        await context.fs.delete("src")


async def test_nothing_outside_is_listed_found_or_removed(context: LiveContext, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("s")
    (tmp_path / "project" / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "project" / "link.txt").symlink_to(tmp_path / "secret" / "key.txt")
    for reach in (context.fs.list("out"), context.fs.list(".."), context.fs.glob("../**/*"), context.fs.glob("/etc/*")):
        with pytest.raises(OutsideWorkspace):
            await reach
    assert await context.fs.glob("**/*.txt") == []
    for touch in (
        context.fs.delete("out/key.txt"),
        context.fs.delete("../secret/key.txt"),
        context.fs.read_bytes("link.txt"),
    ):
        with pytest.raises(OutsideWorkspace):
            await touch
    # Of a link the link is removed, and not what it leads to.
    assert await context.fs.delete("link.txt")
    assert (tmp_path / "secret" / "key.txt").exists()
