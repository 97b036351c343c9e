"""A repository whose own folder leads git anywhere else is asked about: links, alternates, pipes, worktrees."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.shell_world import ShellWorld

from farhand.sdk.policies import Judge, Surroundings, plain_repository
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.protocols import ToolCall


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ShellWorld:
    return ShellWorld(tmp_path_factory.mktemp("world"))


GIT_LINES = ("git status", "git log --all", "git show HEAD", "git diff", "git branch -a -vv")


@pytest.fixture
def repository(world: ShellWorld, tmp_path: Path) -> Path:
    """A repository of its own, with a commit and a packed one."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), (*identity, "commit", "-qm", "x", "--allow-empty"), ("gc", "-q")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, env=world.environment)
    subprocess.run(
        ["git", *identity, "commit", "-qm", "y", "--allow-empty"], cwd=tmp_path, check=True, env=world.environment
    )
    return tmp_path


def git_decisions(folder: Path) -> set[str]:
    judge = Judge(default_rules())
    return {
        judge.decide(ToolCall("1", "run_shell_command", {"command": line}), Surroundings(cwd=folder)).decision
        for line in GIT_LINES
    }


@pytest.mark.parametrize(
    "name",
    [
        "shallow",
        "index",
        "config",
        "HEAD",
        "packed-refs",
        "MERGE_MSG",
        "rebase-merge/done",
        "rebase-apply/next",
        "sequencer/todo",
        "refs/heads/x",
        "refs/heads/deep/er/x",
        "logs/HEAD",
        "logs/refs/heads/x",
        "info/exclude",
        "info/grafts",
        "objects/ff",
        "objects/ff/0000000000000000000000000000000000000000",
        "objects/pack/pack-0.pack",
        "objects/info/commit-graph",
        "worktrees/x/gitdir",
        "modules",
        "lfs",
        "sharedindex.0",
    ],
)
def test_git_whose_own_files_are_links_is_asked_about(world: ShellWorld, repository: Path, name: str) -> None:
    assert git_decisions(repository) == {"allow"}
    path = repository / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    # A folder of objects is there when one of its objects is, and their names differ from run to run.
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(world.outside / "key")
    assert git_decisions(repository) == {"ask"}
    # A link that stays inside is one, too: it may be another one when git reads it.
    path.unlink()
    path.symlink_to(repository / "in.txt")
    assert git_decisions(repository) == {"ask"}


@pytest.mark.parametrize("name", ["objects", "objects/pack", "refs", "refs/heads", "logs", "info", "objects/info"])
def test_git_whose_own_folders_are_links_is_asked_about(repository: Path, tmp_path_factory: Any, name: str) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "moved"
    path = repository / ".git" / name
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert git_decisions(repository) == {"ask"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("objects/info/alternates", "{outside}/.git/objects"),
        ("commondir", "{outside}/.git"),
        ("worktrees/x/commondir", "{outside}/.git"),
        ("config.worktree", "[core]"),
        ("info/attributes", "* diff=x"),
    ],
)
def test_git_that_reads_what_lies_elsewhere_is_asked_about(
    world: ShellWorld, repository: Path, name: str, text: str
) -> None:
    path = repository / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(outside=world.outside))
    assert git_decisions(repository) == {"ask"}


@pytest.mark.parametrize("name", ["MERGE_HEAD", "config", "refs/heads/x"])
def test_a_pipe_in_a_repository_is_asked_about_and_hangs_nobody(repository: Path, name: str) -> None:
    (repository / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(repository / ".git" / name)
    assert git_decisions(repository) == {"ask"}


def test_a_folder_that_was_plain_is_looked_at_again_when_it_changes(
    world: ShellWorld, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the repository had lain there for long: what was seen is remembered.
    monkeypatch.setattr(plain_repository, "SETTLED_NANOSECONDS", -1)
    worktree = repository / ".git" / "worktrees" / "x"
    worktree.mkdir(parents=True)
    (worktree / "commondir").write_text("../..\n")
    assert git_decisions(repository) == {"allow"}
    assert git_decisions(repository) == {"allow"}
    (worktree / "commondir").write_text(str(world.outside))
    assert git_decisions(repository) == {"ask"}
    (worktree / "commondir").write_text("../..\n")
    (repository / ".git" / "refs" / "heads" / "x").symlink_to(world.outside / "key")
    assert git_decisions(repository) == {"ask"}


def test_a_repository_with_worktrees_is_a_plain_one_and_its_worktrees_are_asked_about(
    world: ShellWorld, repository: Path, tmp_path_factory: Any
) -> None:
    beside = tmp_path_factory.mktemp("beside") / "tree"
    add = ["git", "worktree", "add", "-q", "-b", "other"]
    for place in (beside, repository / "inner"):
        subprocess.run([*add[:-1], place.name, str(place)], cwd=repository, check=True, env=world.environment)
    assert git_decisions(repository) == {"allow"}
    # Their `.git` is a file that names a folder elsewhere: nobody but a person can say whether that is the right one.
    assert git_decisions(beside) == {"ask"}
    assert git_decisions(repository / "inner") == {"ask"}


def test_a_repository_of_too_many_files_is_asked_about(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_repository, "MOST_ENTRIES", 10)
    assert git_decisions(repository) == {"ask"}
