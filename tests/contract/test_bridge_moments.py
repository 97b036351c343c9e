"""Every moment of every step on the two files: a foreign program writes, a kill comes; nothing is lost or told twice,
and what was taken back is not told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import SAFETY_SECONDS
from tests.contract.bridge_scenes import SEEN
from tests.in_memory import tmp_path

__all__ = ["tmp_path"]

# Not each with each: the last places are one matter, and files that cannot change places are another.
CASES = [
    *(("inbox", step, seen, "exchange") for step in ("put", "take back", "hook") for seen in SEEN),
    *(("inbox", step, "before ours", "exchange") for step in ("look", "put, put", "take back, take back")),
    *(("inbox", "hook, take back", seen, "exchange") for seen in ("now", "before the step")),
    *(("inbox", step, "before ours", "rename") for step in ("put", "take back", "hook")),
    *(("nearly full inbox", step, "now", "exchange") for step in ("put", "take back", "hook", "hook, put")),
    *(("outbox", step, seen, "exchange") for step in ("say", "hook", "mark") for seen in ("now", "before ours")),
    ("outbox", "say", "before ours", "rename"),
]


@pytest.mark.parametrize("case", CASES, ids=["-".join(case).replace(" ", "_") for case in CASES])
def test_nothing_is_lost_or_told_twice_whenever_somebody_writes_and_a_kill_comes(
    case: tuple[str, ...], tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "tests.contract.bridge_scenes", *case]
    environment = {**os.environ, "TMUX": "", "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SAFETY_SECONDS, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
