"""A sprint that the file bridge's hooks drive, run as a CLI runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject


@pytest.fixture(params=["gemini", "claude", "codex"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, request.param)


def test_a_sprint_brings_task_after_task_with_a_report_between(project: HookedProject) -> None:
    project.write("/sprint start\n- write a\n- write b")
    assert "Task 1 of 2: write a" in project.context()
    again = project.after("a is written")
    assert again["decision"] == project.hooks.decision
    assert again["reason"].startswith("Task 2 of 2: write b")
    assert project.after("b is written") == {}
    assert project.said() == ["a is written", "✅ 1/2 done. Next: write b", "b is written", "🏁 Sprint done: 2/2."]
    assert project.after("something else") == {}


def test_stop_during_a_turn_ends_the_sprint_with_that_turn(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b\n- c")
    project.context()
    project.write("stop please")
    assert project.after("did a") == {}
    assert project.said()[-1] == "⛔ Sprint stopped at 1/3."
    assert project.context() == "", "a STOP that was obeyed is not told to the next turn"


def test_a_turn_without_a_word_ends_the_sprint_and_is_told(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b\n- c")
    project.context()
    assert project.after("did a")["reason"].startswith("Task 2 of 3")
    assert project.after("") == {}
    assert project.said()[-1] == "⚠ Sprint halted at 2/3: the turn ended without a word."
    assert project.after("something else") == {}


def test_a_message_in_a_sprint_reaches_the_next_turn(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b")
    project.context()
    project.write("use tabs")
    reason = project.after("did a")["reason"]
    told = project.context() if project.hooks.before_each else reason
    assert told.endswith("WhatsApp messages:\nuse tabs")
    assert project.context() == ""
