"""Hooks put into settings and taken out: foreign ones untouched, nothing twice, the file as it was to the byte."""

from __future__ import annotations

import argparse
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farhand.cli.hook import run
from farhand.hooks.install import (
    PROGRAM,
    compiled,
    install,
    installed,
    interpreter,
    is_ours,
    merge,
    place_program,
    remove,
    uninstall,
)
from farhand.hooks.jsonc import blanked, with_groups, without_groups
from farhand.manifests import person_hooks
from farhand.model.errors import NodeError, SettingWrong
from farhand.testing.full_disk import full_disk

GROUPS: dict[str, list[dict[str, Any]]] = {
    "Stop": [{"hooks": [{"type": "command", "command": f"python3 /x/{PROGRAM} report Stop", "timeout": 10}]}],
    "PermissionRequest": [{"hooks": [{"type": "command", "command": f"python3 /x/{PROGRAM} ask PermissionRequest"}]}],
}
FOREIGN = {"hooks": [{"type": "command", "command": "afplay done.mp3"}]}
FILES = {
    "two spaces": (
        b'{\n  "model": "opus",\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "x"}]}]\n  }\n}\n'
    ),
    "tabs, no last newline": b'{\n\t"a": "\xc3\xa9"\n}',
    "one line": b'{"b": 1, "hooks": {}}',
    "nothing in it": b"{}",
    "comments": b'// a\n{\n  "b": 1, /* c, } */\n  "d": "// no",\n}\n',
    "comments among hooks": b'{"hooks": { // one\n  "Stop": [{"hooks": [{"command": "x"}]}, /* two */ ],\n}}',
    "empty": b"",
}


@pytest.mark.parametrize("before", FILES.values(), ids=FILES)
def test_uninstall_leaves_the_file_as_it_was(tmp_path: Path, before: bytes) -> None:
    file, keep = tmp_path / "settings.json", tmp_path / "keep"
    file.write_bytes(before)
    file.chmod(0o640)
    assert install(file, GROUPS, keep)
    assert installed(file, GROUPS)
    assert uninstall(file, keep)
    assert file.read_bytes() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not uninstall(file, keep)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.dictionaries(st.text().filter(lambda name: name != "hooks"), ANYTHING), st.sampled_from(["// x\n", "/* , } */"])
)
def test_hooks_are_spliced_in_and_out_of_any_settings_with_comments(content: dict[str, Any], comment: str) -> None:
    text = comment + json.dumps(content, indent=2, ensure_ascii=False).replace("{", "{" + comment, 1)
    added = with_groups(text, GROUPS)
    assert json.loads(blanked(added)) == {**content, "hooks": GROUPS}
    assert added.count(comment) == text.count(comment)
    assert json.loads(blanked(without_groups(added, is_ours))) == content


def test_a_file_that_was_not_there_is_gone_again(tmp_path: Path) -> None:
    file, keep = tmp_path / "new" / "settings.json", tmp_path / "keep"
    assert install(file, GROUPS, keep)
    assert json.loads(file.read_bytes()) == {"hooks": GROUPS}
    assert uninstall(file, keep)
    assert not file.exists()


def test_installing_twice_does_nothing_more(tmp_path: Path) -> None:
    file, keep = tmp_path / "settings.json", tmp_path / "keep"
    file.write_bytes(FILES["two spaces"])
    install(file, GROUPS, keep)
    once = file.read_bytes()
    assert not install(file, GROUPS, keep)
    assert file.read_bytes() == once


def test_a_newer_program_replaces_the_older_one(tmp_path: Path) -> None:
    file, keep = tmp_path / "settings.json", tmp_path / "keep"
    file.write_bytes(FILES["two spaces"])
    older = {"Stop": [{"hooks": [{"type": "command", "command": f"/old/python {PROGRAM} report Stop"}]}]}
    install(file, older, keep)
    install(file, GROUPS, keep)
    assert file.read_text().count(PROGRAM) == 2
    uninstall(file, keep)
    assert file.read_bytes() == FILES["two spaces"]


def test_what_others_changed_since_stays(tmp_path: Path) -> None:
    file, keep = tmp_path / "settings.json", tmp_path / "keep"
    file.write_bytes(FILES["two spaces"])
    install(file, GROUPS, keep)
    content = json.loads(file.read_bytes())
    content["hooks"]["Stop"].append(FOREIGN)
    content["added"] = True
    file.write_text(json.dumps(content, indent=2))
    assert uninstall(file, keep)
    left = json.loads(file.read_bytes())
    assert left["added"] is True
    assert left["hooks"] == {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}, FOREIGN]}


@pytest.mark.parametrize("broken", [b"{ not json", b"[]", b'{"hooks": []}', b'{"hooks": {"Stop": {}}}', b"\xff"])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, broken: bytes) -> None:
    file, keep = tmp_path / "settings.json", tmp_path / "keep"
    file.write_bytes(broken)
    with pytest.raises(SettingWrong, match="left as it is"):
        install(file, GROUPS, keep)
    assert file.read_bytes() == broken


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, file, keep = tmp_path / "dotfiles.json", tmp_path / "settings.json", tmp_path / "keep"
    real.write_bytes(FILES["two spaces"])
    file.symlink_to(real)
    install(file, GROUPS, keep)
    assert file.is_symlink()
    assert PROGRAM in real.read_text()


def test_a_failed_write_leaves_the_old_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(FILES["two spaces"])
    with full_disk(len(FILES["two spaces"])), pytest.raises(OSError, match=r"File too large"):
        install(file, GROUPS, tmp_path / "keep")
    assert file.read_bytes() == FILES["two spaces"]
    assert not [left for left in tmp_path.iterdir() if left.name.startswith(".")]


def test_the_program_is_copied_once_and_runs_with_the_real_interpreter(tmp_path: Path) -> None:
    path = place_program(tmp_path)
    before = path.stat().st_mtime_ns
    assert place_program(tmp_path).stat().st_mtime_ns == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert not Path(interpreter()).is_symlink()


def test_a_copy_that_was_spoilt_is_made_good(tmp_path: Path) -> None:
    path = place_program(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert place_program(tmp_path).read_bytes() == whole


def test_what_runs_is_compiled_from_the_source_beside_it(tmp_path: Path) -> None:
    path = place_program(tmp_path)
    assert path.read_bytes() == compiled((tmp_path / PROGRAM).read_bytes())


foreign = st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text()}))})
documents = st.fixed_dictionaries(
    {}, optional={"model": st.text(), "hooks": st.dictionaries(st.sampled_from(["Stop", "Other"]), st.lists(foreign))}
)


@settings(max_examples=200, deadline=None)
@given(documents)
def test_merging_and_removing_are_opposites(content: dict[str, Any]) -> None:
    merged = merge(content, GROUPS)
    assert merge(merged, GROUPS) == merged
    removed = remove(merged)
    assert {k: v for k, v in removed.get("hooks", {}).items() if v} == {
        k: v for k, v in content.get("hooks", {}).items() if v
    }
    assert {k: v for k, v in removed.items() if k != "hooks"} == {k: v for k, v in content.items() if k != "hooks"}


@pytest.mark.parametrize("backend", sorted(person_hooks()))
@pytest.mark.parametrize("folder", [True, False], ids=["folder", "file"])
def test_what_is_for_a_project_is_not_written_through_a_link_out_of_it(
    tmp_path: Path, backend: str, folder: bool
) -> None:
    project, mine = tmp_path / "project", tmp_path / "mine"
    project.mkdir()
    mine.mkdir()
    settings = project / person_hooks()[backend].project
    if folder:
        settings.parents[len(settings.relative_to(project).parents) - 2].symlink_to(mine)
    else:
        settings.parent.mkdir(parents=True)
        settings.symlink_to(mine / "precious")
        (mine / "precious").write_text("{}")
    given = argparse.Namespace(what="install", backend=backend, settings=None, project=project, events=False)
    with pytest.raises(NodeError, match="link out of the project"):
        run(given)
    assert [one.name for one in mine.iterdir()] == ([] if folder else ["precious"])
