"""An interrupted run of the tests leaves no agent behind, however its workers were ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.live.held_children import is_running
from tests.order import ROOT

# Starts what outlives its node, says so, and never ends.
ENDLESS = """
import subprocess, threading
from pathlib import Path

def test_endless(short_folder):
    home = {"HOME": str(short_folder), "PATH": "/usr/bin:/bin"}
    agent = subprocess.Popen(["sleep", "1000"], env=home, start_new_session=True)
    Path("begun").write_text(f"{agent.pid}\\n{home['HOME']}\\n")
    threading.Event().wait()
"""
SAFETY_SECONDS = 240


@pytest.mark.parametrize("more", [[], ["-n", "1"]], ids=["alone", "in a worker"])
def test_what_outlives_its_node_does_not_outlive_an_interrupt(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.interrupted"]
    with subprocess.Popen(
        [*command, f"--basetemp={tmp_path / 'i'}", f"--rootdir={tmp_path}", *more, "test_endless.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    ) as run:
        pid, folder = wait_begun(tmp_path / "begun")
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait() == pytest.ExitCode.INTERRUPTED
    assert not folder.exists()
    assert not is_running(pid)


def wait_begun(file: Path) -> tuple[int, Path]:
    """The process that the inner test has started, and its home."""
    deadline = time.monotonic() + SAFETY_SECONDS
    while not file.exists() or len(told := file.read_text().split()) < 2:
        assert time.monotonic() < deadline, "the inner test did not begin"
    return int(told[0]), Path(told[1])
