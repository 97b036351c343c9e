"""A node's life from the command line: behind the terminal, restarted, stopped with or without its agents."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home, home_without_nodes
from tests.spec.promises import promise

from farhand.cli.tmux_sessions import end_session, sessions_of
from farhand.config.launch import Launch
from farhand.disk.processes import is_alive, read_processes
from farhand.model.compat import LOG_FILE


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    with home_without_nodes(tmp_path) as made:
        yield made


def holders(home: Home) -> set[int]:
    """The holders that keep agents of this home: as they call themselves, never the program that starts one."""
    lives = [json.loads(one.read_bytes()) for one in home.folder.glob("**/holders/*/life")]
    return {life["holder"] for life in lives if is_alive(life["holder"])}


def wait_until_nothing_runs(home: Home) -> None:
    """Returns when no process of this home is left; a holder whose agent is ended may need a moment to be gone."""
    deadline = time.monotonic() + SAFETY_SECONDS
    while left := [one.words for one in read_processes() if any(str(home.folder) in word for word in one.words)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def run_behind(home: Home, *more: str) -> None:
    """A node behind the terminal, and its agent at work: one that is being started can be neither kept nor counted."""
    told = home.farhand("run", "-n", "test", "-p", "0", "--no-telegram", "--demo", "--detach", *more)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("Node 'test' is running on port ")
    assert home.farhand("say", "-n", "test", "--wait", "one two").returncode == 0


def status(home: Home) -> dict[str, object]:
    said: dict[str, object] = json.loads(home.farhand("status", "-n", "test", "--json").stdout)
    return said


@promise("cli.2", "cli.3")
def test_a_node_runs_behind_is_restarted_and_stopped_with_its_agents(home: Home) -> None:
    run_behind(home)
    before = status(home)
    kept = holders(home)
    assert kept
    assert "node ready" in home.farhand("logs", "-n", "test").stdout
    told = home.farhand("restart")
    assert (told.returncode, told.stderr) == (0, "Node 'test' stopped; its agents live on.\n")
    after = status(home)
    assert after["running"] is True
    assert after["pid"] != before["pid"]
    assert holders(home) == kept
    told = home.farhand("stop", "-n", "test")
    assert told.returncode == 0
    assert told.stdout.startswith("Node 'test' stopped. 1 agent ended: ")
    wait_until_nothing_runs(home)
    run_behind(home)
    # Ended on purpose, and started again: nobody is told of an accident.
    assert "agent gone" not in (home.node_folder() / LOG_FILE).read_text("utf-8")


@promise("cli.16")
def test_stop_may_leave_the_agents_and_stop_again_ends_them(home: Home) -> None:
    run_behind(home)
    assert home.farhand("stop", "--keep-workers").stdout == "Node 'test' stopped.\n"
    assert holders(home)
    told = home.farhand("stop", "-n", "test")
    assert told.stdout.startswith("Node 'test' was not running. 1 agent ended: ")
    wait_until_nothing_runs(home)
    assert home.farhand("stop", "-n", "test").returncode == 1
    assert home.farhand("stop", "--all").stdout == "No node is running.\n"


@promise("cli.16")
@pytest.mark.parametrize("how", ["kept", "killed"])
def test_stop_of_all_nodes_ends_the_agents_that_have_outlived_theirs(home: Home, how: str) -> None:
    if how == "kept":
        run_behind(home)
        assert home.farhand("stop", "--keep-workers").returncode == 0
    else:
        node = home.start("test", "--demo")
        assert home.farhand("say", "-n", "test", "--wait", "one two").returncode == 0
        node.kill()
        node.wait()
    kept = holders(home)
    assert kept
    assert home.farhand("stop", "--all", "--keep-workers").stdout == "No node is running.\n"
    assert holders(home) == kept
    told = home.farhand("stop", "--all")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("Node 'test' was not running. 1 agent ended: ")
    wait_until_nothing_runs(home)
    assert home.farhand("stop", "--all").stdout == "No node is running.\n"


def test_a_run_behind_that_cannot_start_says_why(home: Home) -> None:
    first = home.start("test")
    told = home.farhand("run", "-n", "test", "--no-telegram", "--detach")
    assert (told.returncode, told.stderr.splitlines()) == (
        1,
        [f"error: Node 'test' is already running (pid {first.pid}).", "→ farhand chat --node test"],
    )
    told = home.farhand("run", "-n", "other", "--no-telegram", "--detach", "-p", str(status(home)["port"]))
    assert told.returncode == 1
    assert told.stderr.splitlines()[0] == f"error: Port {status(home)['port']} is already in use"


def test_a_node_that_is_left_with_its_agents_leaves_nothing_behind(home: Home) -> None:
    node = home.start("test", "--demo", "--end-workers")
    assert home.farhand("say", "-n", "test", "--wait", "one two").returncode == 0
    assert holders(home)
    node.terminate()
    assert node.wait(SAFETY_SECONDS) == 0
    wait_until_nothing_runs(home)


def test_a_restart_that_could_not_run_again_stops_nothing(home: Home) -> None:
    node = home.start("test")
    (home.node_folder() / "run.json").unlink()
    told = home.farhand("restart")
    assert (told.returncode, told.stderr.splitlines()[0]) == (3, "error: TELEGRAM_BOT_TOKEN not set")
    assert node.poll() is None


@promise("cli.2", "cli.36")
def test_a_nodes_tmux_sessions_are_its_own(short_folder: Path, tmux_server: tuple[str, ...]) -> None:
    """The prefix of `dev` is the beginning of that of `dev-2`; the session's own variable tells them apart."""
    for node, worker in (("dev", "ann"), ("dev-2", "bob"), ("other", "cat")):
        made = ["new-session", "-d", "-e", f"TMUX_PREFIX=claude-{node}-", "-s", f"claude-{node}-{worker}", "sleep 600"]
        subprocess.run([*tmux_server, *made], check=True)
    launch = Launch(tmux_prefix="claude-dev-", tmux_socket=str(short_folder / "tmux"))
    assert [one.name for one in sessions_of(launch)] == ["claude-dev-ann"]
    end_session(launch, "claude-dev-ann")
    left = subprocess.run([*tmux_server, "list-sessions", "-F", "#S"], capture_output=True, text=True, check=True)
    assert left.stdout.split() == ["claude-dev-2-bob", "claude-other-cat"]


@pytest.mark.parametrize("ignored", ["SIGHUP", "SIGHUP, signal.SIGTERM"])
def test_an_agent_that_takes_no_notice_of_the_end_of_its_terminal_is_ended_all_the_same(
    short_folder: Path, tmux_server: tuple[str, ...], ignored: str
) -> None:
    ready = short_folder / "ready"
    program = short_folder / "agent.py"
    program.write_text(
        "import os, pathlib, signal\n"
        f"for one in (signal.{ignored},):\n    signal.signal(one, signal.SIG_IGN)\n"
        f"pathlib.Path({str(ready)!r}).symlink_to(str(os.getpid()))\n"
        "while True:\n    signal.pause()\n"
    )
    words = ["new-session", "-d", "-s", "claude-dev-ann", f"exec {sys.executable} {program}"]
    subprocess.run([*tmux_server, *words], check=True)
    deadline = time.monotonic() + SAFETY_SECONDS
    while not ready.is_symlink():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process = int(ready.readlink().name)
    end_session(Launch(tmux_prefix="claude-dev-", tmux_socket=str(short_folder / "tmux")), "claude-dev-ann")
    assert not is_alive(process)
