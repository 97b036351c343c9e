"""Spec 2's test harness: which tests run, and what is told of what is not kept yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scripts.spec_2 import unlisted
from tests.spec.promises import promise

ROOT = Path(__file__).resolve().parents[2]


@promise("env.26")
@pytest.mark.parametrize(
    ("chosen", "everything"), [("FAST=1", False), ("FULL=1", True), ("FAST=1 FULL=1", True), ("", True)]
)
def test_fast_and_full_choose_the_tests(chosen: str, everything: bool) -> None:
    command = ["make", "--no-print-directory", "-n", "test", *chosen.split()]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    runs = [line for line in told.splitlines() if "-m pytest" in line]
    assert len(runs) == 1
    assert runs[0].endswith(" tests") is everything
    assert ("--ignore-glob" in runs[0]) is not everything


@promise("roadmap.1")
def test_what_is_not_kept_yet_is_told() -> None:
    page = (ROOT / "docs" / "reference" / "spec-2.md").read_text("utf-8")
    told = page.partition("## Not yet\n")[2]
    waiting = (ROOT / "tests" / "spec" / "spec_2_open.txt").read_text("utf-8").splitlines()
    assert bool(waiting) == bool(told)
    assert [line for line in waiting if f"| {line.replace(' ', ' | ', 1)} |" not in told] == []


def test_a_line_of_the_spec_that_is_on_no_list_is_found() -> None:
    listed = "cli.1 MUST implement `run` to start a node.\n"
    spec = "- MUST implement `run` to start a node.\n- MUST dance.\nNothing.\n"
    assert unlisted(spec, listed) == ["on neither list: MUST dance."]
