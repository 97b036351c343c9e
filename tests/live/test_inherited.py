"""No test depends on how it was started: its children have the default signals and an empty standard input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Without these words a run of tests would start this very test, and so on.
INNER = "FARHAND_TESTS_STARTED_BY_A_TEST"
LOOK = "import os; print(open('/proc/self/status').read()); print('input', os.stat(0).st_rdev)"


def ignored_in_child() -> set[int]:
    """The signals that a child of this process ignores; its standard input must be empty."""
    told = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True).stdout
    assert told.endswith(f"input {Path(os.devnull).stat().st_rdev}\n")
    mask = int(told.partition("SigIgn:")[2].split()[0], 16)
    return {number for number in range(1, 32) if mask >> (number - 1) & 1}


def test_a_child_of_a_test_heeds_signals_and_reads_nothing() -> None:
    assert not ignored_in_child() & {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM}


@pytest.mark.skipif(INNER in os.environ, reason="this is the inner run")
@pytest.mark.parametrize("more", [["-s"], ["-n", "1"]], ids=["alone", "in a worker"])
def test_a_run_under_nohup_with_an_open_pipe_for_an_input(short_folder: Path, more: list[str]) -> None:
    tests = [f"{Path(__file__)}", f"{ROOT / 'tests/live/test_cli.py'}::test_a_signal_stops_a_node_in_order"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={short_folder / 'i'}"]
    with (short_folder / "told").open("w+") as told:
        with subprocess.Popen(
            [sys.executable, "-c", STARTER, *command, *more, *tests],
            cwd=ROOT,
            env={**os.environ, INNER: "1"},
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=told,
        ) as run:
            code = run.wait()
        told.seek(0)
        assert code == 0, told.read()


# As `nohup` and `&` do: what is ignored stays so over `exec`.
STARTER = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""
