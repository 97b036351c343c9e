"""A run that is left or killed: the session is free, the real Gemini CLI goes on, nothing runs on.

A sample of the ways and events, for the CLI takes its time; `tests/sdk/test_left_runs.py` has all of them."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.live.test_gemini_interchange import GEMINI, House
from tests.sdk import left_run
from tests.sdk.test_left_runs import answered, is_gone

from farhand.testing.models.gemini import FakeGemini, says

pytestmark = pytest.mark.skipif(
    not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"
)

A_HANGING_TEST_ENDS_SECONDS = 300
RUN_EVENTS = 20


def play(house: House, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", left_run.__file__, *arguments]
    return subprocess.run(
        command,
        cwd=house.project,
        env={**house.environ(), "GEMINI_MODEL": "gemini-2.5-flash"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=A_HANGING_TEST_ENDS_SECONDS,
        check=False,
    )


def left_at(house: House, way: str, at: int) -> str:
    """A session whose run was left; what its commands had started is gone."""
    began = play(house, way, str(at))
    assert began.returncode in (0, -signal.SIGKILL), began.stderr
    started = house.project / "processes.txt"
    processes = [int(line) for line in started.read_text().split()] if started.exists() else []
    assert all(is_gone(process) for process in processes)
    started.unlink(missing_ok=True)
    return began.stdout.strip()


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(way=st.sampled_from(["break", "cancel", "interrupt", "close", "kill"]), at=st.integers(0, RUN_EVENTS))
@example(way="kill", at=4)
@example(way="kill", at=8)
def test_left_at_any_event_the_cli_and_we_go_on(tmp_path_factory: pytest.TempPathFactory, way: str, at: int) -> None:
    with FakeGemini() as fake:
        house = House(tmp_path_factory.mktemp("left"), fake)
        session = left_at(house, way, at)
        resumed = play(house, "resume", session)
        if "There is no session" in resumed.stderr:
            # Killed before anything was said: there is nothing to go on with.
            assert (way, at) == ("kill", 0)
            return
        assert resumed.returncode == 0, resumed.stderr
        fake.expect(says("Yes."))
        lines = run_gemini(house, session)
        assert lines[0]["session_id"] == session
        assert answered(fake.last["contents"])


def run_gemini(house: House, session: str) -> list[dict[str, Any]]:
    import anyio

    return anyio.run(house.gemini, "--resume", session, "-p", "still there?")
