"""The tests of a file that makes something once run on one worker, all other tests on whichever is free."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.order import ROOT, shares, work_unit

QUICK = ["tests/pure/test_slash.py", "tests/pure/test_visible.py", "tests/pure/test_split.py"]


def test_what_is_handed_out_in_one_piece() -> None:
    assert work_unit("tests/pure/test_slash.py::test_one[a::b]") == "tests/pure/test_slash.py"
    assert work_unit("tests/live/app/test_app.py::test_one") == "tests/live/app/test_app.py"
    assert work_unit("tests/house/test_talk.py::test_one") == "tests/house/test_talk.py::test_one"


def test_whatever_is_made_once_is_seen_where_it_counts() -> None:
    # Only what a test's file or the conftest beside it says is seen: a fixture elsewhere would be made again and again.
    above = [ROOT / "tests" / name / "conftest.py" for name in (".", "live", "house", "spec", "contract")]
    others = [file for file in (ROOT / "tests").rglob("*.py") if not file.name.startswith(("test_", "conftest"))]
    shared = [*others, *(file for file in above if file.is_file())]
    assert not list(filter(shares, shared))


def test_a_file_that_stays_whole_runs_on_one_worker(short_folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", f"--basetemp={short_folder / 'i'}"]
    spread = ["-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"]
    ended = subprocess.run(
        [*command, *spread, *QUICK], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
    ran = re.findall(r"^\[(gw\d)\] .*? PASSED (tests/\S+?\.py)::", ended.stdout, re.MULTILINE)
    workers = {file: {worker for worker, other in ran if other == file} for file in QUICK}
    assert {file: len(found) for file, found in workers.items()} == dict.fromkeys(QUICK, 1)
    assert len(set.union(*workers.values())) == 2
