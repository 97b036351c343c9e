"""The paths of a git index are those that git reads, and one that leads out of the working tree makes git ask."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.model.git_index import index_entries
from farhand.sdk.policies import Judge, Surroundings
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.plain_index import is_plain_index
from farhand.sdk.protocols import ToolCall

NAME = "a-path-of-this-length"


def git(folder: Path, *words: str) -> bytes:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, env=environment, check=True, capture_output=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a-key-of-fitting-size").write_text("a secret\n")
    git(folder, "init", "-q")
    (folder / NAME).write_text("x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return folder


def changed(repository: Path, change: Callable[[bytes], bytes]) -> bytes:
    """The index with another content, and the sum that belongs to it."""
    path = repository / ".git/index"
    body = change(path.read_bytes()[:-20])
    content = body + hashlib.sha1(body).digest()
    path.write_bytes(content)
    return content


def decided(repository: Path, line: str) -> str:
    call = ToolCall("1", "run_shell_command", {"command": line})
    return Judge(default_rules()).decide(call, Surroundings(cwd=repository)).decision


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_path_is_read_as_git_reads_it(repository: Path, version: int) -> None:
    for number in range(300):
        path = repository / ("d" * (number % 9)) / f"{'n' * (number % 40)}{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(number))
    long = repository / ("l" * 200) / ("o" * 200)
    long.parent.mkdir()
    long.write_text("x")
    (repository / ".hidden").mkdir()
    (repository / ".hidden/..file").write_text("x")
    git(repository, "add", ".")
    # An entry with flags of its own is written as version 3.
    (repository / "planned").write_text("x")
    git(repository, "add", "--intent-to-add", "planned")
    git(repository, "update-index", "--index-version", str(version))
    content = (repository / ".git/index").read_bytes()
    assert content[7] == max(version, 3)
    assert [path for path, _ in index_entries(content)] == git(repository, "ls-files", "-z").split(b"\0")[:-1]
    assert is_plain_index(content)
    assert decided(repository, "git diff") == "allow"


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize(
    "path",
    [
        "../outside/" + "k" * 10,
        "src/../../outside/key",
        "/etc/hostname________",
        "./in.txt_____________",
        "a//b_________________",
        "a/.._________________"[:4] + "/" + "x" * 16,
        ".git/config__________",
        "a/.GIT/config________",
        "a-folder-with-a-end-/",
    ],
)
def test_a_path_that_leads_elsewhere_makes_git_ask(repository: Path, path: str, version: int) -> None:
    git(repository, "update-index", "--index-version", str(version))
    assert len(path) == len(NAME)
    content = changed(repository, lambda body: body.replace(NAME.encode(), path.encode()))
    assert not is_plain_index(content)
    for line in ("git diff", "git status", "git log", "git show HEAD", "git branch"):
        assert decided(repository, line) == "ask"


def test_git_itself_would_show_what_lies_outside(repository: Path) -> None:
    """Why all this is needed: the day that git refuses, it may go."""
    key = "../outside/a-key-of-fitting-size"
    (repository / ("n" * len(key))).write_text("y\n")
    git(repository, "add", ".")
    changed(repository, lambda body: body.replace(b"n" * len(key), key.encode()))
    assert b"+a secret" in git(repository, "diff")
    assert decided(repository, "git diff") == "ask"


def test_an_index_that_names_another_file_or_has_something_unknown_makes_git_ask(repository: Path) -> None:
    for extension in (b"link", b"sdir", b"ABCD"):
        before = (repository / ".git/index").read_bytes()
        changed(repository, lambda body: body + extension + b"\0\0\0\4abcd")  # noqa: B023
        assert decided(repository, "git diff") == "ask"
        (repository / ".git/index").write_bytes(before)
    git(repository, "update-index", "--split-index")
    assert decided(repository, "git diff") == "ask"


def test_a_repository_without_an_index_is_a_plain_one(repository: Path) -> None:
    (repository / ".git/index").unlink()
    assert decided(repository, "git log") == "allow"


@given(st.binary(max_size=300), st.integers(0, 5), st.integers(0, 3))
def test_garbage_is_no_index(garbage: bytes, version: int, count: int) -> None:
    is_plain_index(garbage)
    head = b"DIRC" + version.to_bytes(4, "big") + count.to_bytes(4, "big")
    for _ in range(2):
        is_plain_index(head + garbage)
    assert not is_plain_index(head[:-1] + b"\xff" + garbage)
