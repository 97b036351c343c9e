"""A lock that somebody holds: the hooks go on without it, and what the agent said is kept until it can be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.hook.deliver import SPOOLED
from farhand.bridge.hook.files import BridgeState, FolderLock
from farhand.bridge.project import ProjectFiles


@pytest.fixture(params=["gemini", "claude", "codex"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, request.param)


def test_a_hook_ends_while_the_lock_is_held_and_loses_nothing(project: HookedProject) -> None:
    project.write("run the tests")
    with FolderLock(str(project.folder)):
        assert project.before() == {}
        assert project.after("They pass.") == {}
        assert project.after("All of them. " * 100) == {}
        assert not project.outbox.exists()
    assert project.context() == "WhatsApp messages:\nrun the tests"
    first, second = read(project.outbox)
    assert (first["text"], first["from"], first["sent"]) == ("They pass.", "agent", False)
    assert (project.folder / str(second["whole"])).read_text() == ("All of them. " * 100).strip()
    project.after("Once more.")
    assert [str(one["text"])[:10] for one in read(project.outbox)] == ["They pass.", "All of the", "Once more."]
    assert not list(project.folder.glob(f"{SPOOLED}*"))


def test_the_node_tells_what_was_kept(project: HookedProject) -> None:
    files = ProjectFiles(project.folder)
    files.attach()
    project.before()
    with FolderLock(str(project.folder)):
        project.after("They pass.")
    assert files.look().answers[0].text == "They pass."
    look = files.look()
    assert ([one.text for one in look.answers], look.busy) == (["They pass."], False)


def test_a_turn_without_a_word_brings_what_was_kept(project: HookedProject) -> None:
    with FolderLock(str(project.folder)):
        project.after("They pass.")
    project.after("")
    assert project.said() == ["They pass."]


def test_what_was_kept_is_told_once_although_its_reader_was_killed(project: HookedProject) -> None:
    with FolderLock(str(project.folder)):
        project.after("They pass.")
    (kept,) = project.folder.glob(f"{SPOOLED}*")
    content = kept.read_bytes()
    project.before()
    # Killed before it could remove it.
    kept.write_bytes(content)
    project.before()
    assert project.said() == ["They pass."]
    assert not kept.exists()


def test_what_makes_no_sense_among_it_is_passed_over(project: HookedProject) -> None:
    for number, nonsense in enumerate((b"{", b"[]", b'{"text": 5}', b"\xff", b'{"text": "x", "at": "y"}')):
        (project.folder / f"{SPOOLED}{number}.json").write_bytes(nonsense)
    (project.folder / f"{SPOOLED}9.json").symlink_to("/etc/passwd")
    assert project.after("They pass.") == {}
    assert project.said() == ["They pass."]


def test_a_sprint_whose_files_are_held_says_so_and_goes_on_after_the_next_turn(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b\n- c")
    project.context()
    with FolderLock(str(project.folder)):
        assert project.after("did a") == {}
    assert project.after("and now?")["reason"].startswith("Task 2 of 3: b")
    assert project.said()[0] == "did a"
    assert "held by another program" in project.said()[1]
    assert BridgeState(str(project.folder)).sprint is not None
