"""A repository that an agent has prepared: what the node itself does there with git runs nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.workdir_client import git, repository

from farhand.model.errors import CannotDo, NoRepository
from farhand.model.present import Worker
from farhand.sandbox.environment import child_environment
from farhand.workdir.repository import find_repository
from farhand.workdir.review_tools import LocalReviewTools
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.sprint_tools import NO_AUTHOR, OUTPUT_BYTES, LocalSprintTools

pytestmark = pytest.mark.anyio


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    made = repository(tmp_path / "shop")
    git(made, "config", "user.name", "Ada")
    git(made, "config", "user.email", "ada@example.org")
    return made


def tools(folder: Path) -> LocalSprintTools:
    return LocalSprintTools({**child_environment({}, {}), "HOME": str(folder)})


def worker_in(folder: Path) -> Worker:
    return Worker(name="ann", backend="demo", directory=str(folder), since=0)


async def test_a_configuration_that_is_too_long_to_be_read_is_not_plain(shop: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    padding = "# nothing\n" * 10_000
    with (shop / ".git" / "config").open("a") as config:
        config.write(f'{padding}[filter "x"]\n\tclean = sh -c "touch {ran}; cat"\n')
    (shop / ".gitattributes").write_text("* filter=x\n")
    (shop / "a.txt").write_text("changed\n")
    commit, problem = await tools(tmp_path).commit(worker_in(shop), "a task", "Task: 1")
    assert (commit, "Not committed" in problem, ran.exists()) == ("", True, False)


async def test_no_git_runs_inside_of_a_submodule(shop: Path, tmp_path: Path) -> None:
    ran, inner = tmp_path / "ran", repository(shop / "inner")
    (shop / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n')
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "with a submodule")
    git(inner, "config", "filter.x.clean", f"sh -c 'touch {ran}; cat'")
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "a.txt").write_text("changed\n")
    (shop / "a.txt").write_text("changed\n")
    commit, problem = await tools(tmp_path).commit(worker_in(shop), "a task", "Task: 1")
    assert problem == ""
    assert commit == git(shop, "rev-parse", "HEAD").strip()
    assert git(shop, "show", "--name-only", "--format=", "HEAD").split() == ["a.txt"]
    assert not ran.exists()


@pytest.mark.parametrize("confined", [False, True])
async def test_a_merge_runs_nothing_that_a_repository_names(shop: Path, tmp_path: Path, *, confined: bool) -> None:
    before = git(shop, "rev-parse", "HEAD").strip()
    git(shop, "branch", "other")
    (shop / "a.txt").write_text("changed\n")
    git(shop, "commit", "-qam", "two")
    after = git(shop, "rev-parse", "HEAD").strip()
    ran = tmp_path / "ran"
    if not confined:
        git(shop, "config", "extensions.partialClone", "o")
        git(shop, "config", "remote.o.promisor", "true")
        git(shop, "config", "remote.o.url", str(shop))
        git(shop, "config", "remote.o.uploadpack", f'sh -c "touch {ran}" #')
    replaced = shop / ".git" / "refs" / "replace"
    replaced.mkdir()
    (replaced / after).write_text("1" * 40 + "\n")
    worker = worker_in(shop)
    snapshots = Snapshots(tmp_path / "snapshots", {"ann": worker}.get, tmp_path / "node")
    merging = LocalReviewTools(snapshots, tmp_path, child_environment({}, {}), confined=lambda _: confined)
    with pytest.raises(CannotDo, match="Not merged"):
        await merging.fast_forward(worker, "other", before, after)
    assert git(shop, "rev-parse", "other").strip() == before
    assert not ran.exists()


async def test_of_what_a_verifier_prints_only_the_end_is_held(tmp_path: Path) -> None:
    measured = f"""
import resource, anyio
from farhand.model.present import Worker
from farhand.workdir.sprint_tools import LocalSprintTools
async def verify():
    tools = LocalSprintTools({{"PATH": "/usr/bin:/bin"}})
    return await tools.verify(Worker(name="ann", backend="demo", directory={str(tmp_path)!r}, since=0), COMMAND)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
COMMAND = "yes 0123456789 | head -c 200000000; echo the end"
done, printed = anyio.run(verify)
assert done and printed.endswith("the end\\n") and len(printed) <= {OUTPUT_BYTES}
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
"""
    subprocess.run([sys.executable, "-c", measured], check=True, stdin=subprocess.DEVNULL)


async def test_a_sandboxed_worker_leads_nobody_to_another_repository(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    mine = tmp_path / "mine" / "project"
    mine.mkdir()
    worker = worker_in(mine)
    taking = Snapshots(tmp_path / "s", {"ann": worker}.get, tmp_path / "node", lambda _: [str(tmp_path / "mine")])
    free = Snapshots(tmp_path / "s", {"ann": worker}.get, tmp_path / "node")
    (mine / ".git").write_text(f"gitdir: {shop / '.git'}\n")
    assert (await free.repository(worker)).git == shop / ".git"
    with pytest.raises(NoRepository, match="outside of its sandbox"):
        await taking.repository(worker)
    (mine / ".git").unlink()
    mine.rename(mine.with_name("old"))
    mine.symlink_to(shop)
    with pytest.raises(NoRepository, match="outside of its sandbox"):
        await taking.repository(worker)
    # One above it, that it cannot have changed, is its own.
    (shop / "inner").mkdir()
    inner = worker_in(shop / "inner")
    below = Snapshots(tmp_path / "s", {"ann": inner}.get, tmp_path / "node", lambda _: [str(shop / "inner")])
    assert (await below.repository(inner)).top == shop


def test_what_names_the_shared_folder_is_a_plain_file(shop: Path) -> None:
    os.mkfifo(shop / ".git" / "commondir")
    with pytest.raises(NoRepository):
        find_repository(shop)


async def test_git_without_an_author_is_told_in_one_plain_sentence(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    (shop / "a.txt").write_text("changed\n")
    assert await tools(tmp_path).commit(worker_in(shop), "a task", "Task: 1") == ("", NO_AUTHOR)
