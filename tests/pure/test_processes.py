"""A process is known by its number and its start: a later one of the same number is never taken for it."""

import fcntl
import os
import signal
import subprocess
from pathlib import Path

from farhand.disk import processes
from farhand.store.folder import lock, running


def test_a_pid_file_names_one_process_and_no_later_one(tmp_path: Path) -> None:
    file = tmp_path / "tunnel.pid"
    assert processes.read_identity(file) is None
    file.write_text(processes.identity(os.getpid()))
    assert processes.read_identity(file) == os.getpid()
    file.write_text(f"{os.getpid()}\n1\n")
    assert processes.read_identity(file) is None
    file.write_text("nonsense")
    assert processes.read_identity(file) is None


def test_only_the_process_of_the_file_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "tunnel.pid"
    with subprocess.Popen(["sleep", "600"]) as child:
        file.write_text(f"{child.pid}\n1\n")
        assert processes.end(file) is None
        assert child.poll() is None
        file.write_text(processes.identity(child.pid))
        assert processes.end(file) == child.pid
        assert child.wait() == -signal.SIGTERM
    assert processes.read_identity(file) is None


def test_the_lock_of_a_node_that_was_killed_names_nobody(tmp_path: Path) -> None:
    """A new node has taken the lock and not signed it yet: the old one's number may be anybody's by now."""
    with lock(tmp_path, "test", 1):
        assert running(tmp_path) == os.getpid()
    assert running(tmp_path) is None
    (tmp_path / "lock").write_text(f"{os.getpid()}\n1\n")
    with (tmp_path / "lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert running(tmp_path) is None


def test_the_lock_of_an_earlier_version_has_its_pid_file(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text(f"{os.getpid()}\n")
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert running(tmp_path) == os.getpid()


def test_what_this_user_runs_is_seen_with_words_and_variables() -> None:
    with subprocess.Popen(["cat", "-"], env={"MARKED": "yes"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"!")
        child.stdin.flush()
        assert child.stdout.read(1) == b"!", "it has not become its program"
        found = {one.pid: one for one in processes.read_processes()}
        child.kill()
    assert found[child.pid].words == ("cat", "-")
    assert found[child.pid].environ == {"MARKED": "yes"}
