"""No git operation after a verdict gets anything past the gate that was not judged."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.house.reviewing import git, repository

from farhand.model.present import Worker
from farhand.model.review import Judgement, Reviewer, ReviewPhase, ReviewState, Verdict, passes
from farhand.model.words import replace
from farhand.sandbox.environment import child_environment
from farhand.workdir.review_tools import LocalReviewTools
from farhand.workdir.snapshots import Snapshots

APPROVED = Reviewer(worker="w", backend="demo", verdict=Verdict(judgement=Judgement.APPROVE))
ASKED = ReviewState(id="1-1", number=1, reviewers=(APPROVED,))
TRAILER = "Sprint-Task: s1/1"


def quiet(folder: Path, *words: str) -> None:
    """Git, whatever it says of it."""
    subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True, stdin=subprocess.DEVNULL)


def write(name: str, text: str) -> Callable[[Path], None]:
    """An edit."""

    def act(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(text)

    return act


def same_size_and_time(folder: Path) -> None:
    """An edit that tries to look as if there was none."""
    path = folder / "a.py"
    if path.is_file() and not path.is_symlink():
        about = path.stat()
        path.write_bytes(b"#" * about.st_size)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def linked(folder: Path) -> None:
    """A file becomes a link."""
    (folder / "b.py").unlink(missing_ok=True)
    (folder / "b.py").symlink_to("/etc/hostname")


def hidden(folder: Path) -> None:
    """Changes that the index says nobody should look for."""
    quiet(folder, "update-index", "--skip-worktree", "a.py")
    quiet(folder, "update-index", "--assume-unchanged", "b.py")
    write("a.py", "hidden = 1\n")(folder)


def commit_all(folder: Path) -> None:
    """The agent commits by itself."""
    quiet(folder, "add", "--all")
    quiet(folder, "commit", "-qm", "mine")


def staged_only(folder: Path) -> None:
    """What is staged is not what is in the folder."""
    (folder / "a.py").write_text("staged = 1\n")
    quiet(folder, "add", "a.py")
    (folder / "a.py").write_text("judged = 1\n")


def run(*words: str) -> Callable[[Path], None]:
    """Git does something."""
    return lambda folder: quiet(folder, *words)


OPERATIONS: dict[str, Callable[[Path], None]] = {
    "edit": write("a.py", "evil = 1\n"),
    "put back": write("a.py", "judged = 1\n"),
    "add a file": write("c.py", "evil = 2\n"),
    "add a secret": write(".env", "KEY=1\n"),
    "ignore all": write(".gitignore", "*\n"),
    "remove": lambda folder: (folder / "b.py").unlink(missing_ok=True),
    "executable": lambda folder: (folder / "a.py").chmod(0o755) if (folder / "a.py").exists() else None,
    "same size and time": same_size_and_time,
    "link": linked,
    "hidden": hidden,
    "staged only": staged_only,
    "stage": run("add", "--all"),
    "unstage": run("reset", "-q"),
    "commit": run("commit", "-qam", "mine"),
    "commit all": commit_all,
    "commit nothing": run("commit", "-q", "--allow-empty", "-m", "empty"),
    "amend": run("commit", "-q", "--amend", "-m", "amended", "--allow-empty"),
    "back softly": run("reset", "-q", "--soft", "HEAD~1"),
    "back hard": run("reset", "-q", "--hard", "HEAD~1"),
    "stash": run("stash", "-q", "--include-untracked"),
    "unstash": run("stash", "pop", "-q"),
    "branch": run("switch", "-q", "-C", "other"),
    "orphan": run("switch", "-q", "--orphan", "lonely"),
    "detach": run("checkout", "-q", "--detach"),
}


def files_of(git_folder: Path, tree: str, ours: Path) -> dict[str, bytes]:
    """What a tree of ours has in it."""
    environment = {**os.environ, "GIT_DIR": str(ours)}
    run_git = ["git", "--git-dir", str(ours)]
    listed = subprocess.run([*run_git, "ls-tree", "-r", "-z", "--name-only", tree], check=True, capture_output=True)
    names = [name.decode() for name in listed.stdout.split(b"\0") if name]
    return {
        name: subprocess.run(
            [*run_git, "cat-file", "blob", f"{tree}:{name}"],
            check=True,
            capture_output=True,
            env=environment,
            cwd=git_folder,
        ).stdout
        for name in names
    }


async def attempt(folder: Path, names: list[str], *, commits_first: bool) -> None:
    """A verdict, then these operations, then the gate."""
    shop = repository(folder / "shop")
    if commits_first:
        (shop / "zero.py").write_text("0\n")
        git(shop, "add", ".")
        git(shop, "commit", "-qm", "second")
    worker = Worker(name="ann", since=1, backend="demo", directory=str(shop))
    snapshots = Snapshots(folder / "snapshots", lambda _: worker, folder / "node")
    tools = LocalReviewTools(snapshots, folder / "reviews", child_environment({}, {}))
    (shop / "a.py").write_text("judged = 1\n")
    (shop / "b.py").write_text("judged = 2\n")
    # An old file that is edited within the second in which it was looked at, and made to look old again.
    os.utime(shop / "a.py", (1_000_000_000, 1_000_000_000))
    binding = await tools.bind(worker, ASKED)
    review = replace(ASKED, phase=ReviewPhase.OVER, binding=binding)
    assert passes(review, await tools.now(worker)), "nothing has happened yet"
    for name in names:
        OPERATIONS[name](shop)
    now = await tools.now(worker)
    if passes(review, now):
        judged = files_of(shop, binding.tree, snapshots.ours(worker))
        assert {name: (shop / name).read_bytes() for name in judged} == judged
    before = git(shop, "rev-parse", "HEAD") if now.head else ""
    commit, problem = await tools.commit(worker, binding, "a task", TRAILER)
    after = git(shop, "rev-parse", "HEAD") if now.head or commit else ""
    if commit:
        assert git(shop, "rev-parse", f"{commit}^{{tree}}") == binding.tree
        assert git(shop, "rev-parse", f"{commit}^") == binding.head
        assert after == commit
        # All that it needs is in the repository itself.
        git(shop, "fsck", "--connectivity-only")
        assert (commit, "") == await tools.commit(worker, binding, "a task", TRAILER), "once, not twice"
    else:
        assert problem
        assert after == before


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_operation(tmp_path: Path, name: str) -> None:
    anyio.run(lambda: attempt(tmp_path, [name], commits_first=False))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=2, max_size=6), st.booleans())
def test_operations_one_after_the_other(names: list[str], commits_first: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(lambda: attempt(Path(folder), names, commits_first=commits_first))
