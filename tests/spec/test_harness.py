"""Spec 2's test harness: which tests run, and what is told of what is not kept yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scripts.spec_2 import (
    DEMANDS,
    Demand,
    demands_of,
    differences,
    read_demands,
    read_open,
    read_promises,
    unmet,
)
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


SPEC = """# A spec
- MUST implement `run` to start a node.
- MUST say:
  - hello
## Appendix A: Texts
### Greeting
```
Hello.
```
## Appendix B: More
Nothing here.
"""
LISTED = {"cli.1": "MUST implement `run` to start a node.", "cli.2": "MUST say: hello", "texts.1": "The greeting."}


def demands() -> list[Demand]:
    """What that spec demands, each with the promise that answers it."""
    return [
        each._replace(promises=(name,))
        for each, name in zip(demands_of(SPEC), ("cli.1", "cli.2", "texts.1"), strict=True)
    ]


def test_a_line_or_a_section_of_the_spec_that_is_on_no_list_is_found_without_its_text() -> None:
    assert unmet(demands(), LISTED) == []
    for name in LISTED:
        without = {other: text for other, text in LISTED.items() if other != name}
        (told,) = unmet(demands(), without)
        assert told.startswith(f"on neither list: {name} (")
    reworded = {**LISTED, "cli.1": "MUST implement `run` to start a node, or not."} | {"cli.2": "MUST sing: hello"}
    assert unmet(demands(), reworded) == ["cli.2 is not in the words of the spec"]
    assert unmet(demands(), {**LISTED, "cli.3": "MUST dance."}) == ["no line of the spec demands cli.3"]


def test_another_text_of_the_spec_is_told_apart() -> None:
    assert differences(SPEC, demands()) == []
    more = differences(SPEC.replace("# A spec", "# A spec\n- MUST dance."), demands())
    assert [one.partition(" (")[0] for one in more] == ["on neither list: MUST dance."]
    told, gone = differences(SPEC.replace("Hello.", "hello."), demands())
    assert told.startswith("on neither list: A: Greeting (block ")
    assert gone == "not in the spec: texts.1"


def test_every_promise_answers_a_demand_of_the_spec() -> None:
    kept = read_demands(DEMANDS.read_text("utf-8"))
    assert [sum(each.kind == kind for each in kept) for kind in ("must", "block")] == [238, 46]
    promised = {name: text for promises in read_promises().values() for name, text in promises}
    assert unmet(kept, promised | read_open()) == []
