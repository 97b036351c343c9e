"""A run that is left or killed at each of its events: its commands end, and another process goes on with it."""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sdk import left_run
from tests.sdk.turning import intact

A_HANGING_TEST_ENDS_SECONDS = 300


def is_gone(process: int) -> bool:
    """Waits for the end of a process."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    watch = select.poll()
    watch.register(descriptor, select.POLLIN)
    try:
        return bool(watch.poll(A_HANGING_TEST_ENDS_SECONDS * 1000))
    finally:
        os.close(descriptor)


def answered(contents: list[dict[str, Any]]) -> bool:
    """Whether a request is one that Gemini takes: roles in turn, a call answered by the message behind it."""
    roles = [content["role"] for content in contents]
    return (
        intact(contents) and roles[0] == "user" and "model" not in {a for a, b in itertools.pairwise(roles) if a == b}
    )


@pytest.mark.parametrize("way", ["kill", "break", "cancel", "interrupt", "close"])
def test_left_at_every_event_it_goes_on_elsewhere(way: str, home: Path, project: Path) -> None:
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    command = [sys.executable, "-W", "error", left_run.__file__, "every", way]
    played = subprocess.run(
        command, cwd=project, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert played.returncode == 0, played.stderr
    told = [json.loads(line) for line in played.stdout.splitlines()]
    # The last one reads the run to its end, and leaves nothing.
    assert [each["at"] for each in told] == list(range(len(told)))
    assert {each["ended"] for each in told[:-1]} == {-signal.SIGKILL if way == "kill" else 0}
    assert len({len(each["started"]) for each in told}) == 4, "commands ran at none, one, two and three of the events"
    for each in told:
        assert each["went"] == 0, each
        assert all(is_gone(int(process)) for process in each["started"]), each
        assert each["again"] == [], each
        assert answered(json.loads(each["resumed"])), each
