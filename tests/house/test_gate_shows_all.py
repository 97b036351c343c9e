"""What a reviewer is given holds all that an approval commits: each change is shown, or named as kept back."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

import pytest
from tests.house.reviewing import git, repository

from farhand.model.errors import GitFailed
from farhand.model.present import Worker
from farhand.model.review import Captured, ReviewBinding, ReviewScope, ReviewState
from farhand.model.words import replace
from farhand.sandbox.environment import child_environment
from farhand.workdir.git import Git
from farhand.workdir.repository import find_repository
from farhand.workdir.review_copies import ReviewCopies
from farhand.workdir.review_tools import KEPT_BACK, LocalReviewTools
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.workdirs import LocalWorkdirs

pytestmark = pytest.mark.anyio


async def captured(folder: Path, directory: Path, scope: ReviewScope = ReviewScope.TREE) -> Captured:
    """What a reviewer of a worker in that directory is given."""
    worker = Worker(name="ann", since=1, backend="demo", directory=str(directory))
    snapshots = Snapshots(folder / "snapshots", lambda _: worker, folder / "node")
    tools = LocalReviewTools(snapshots, folder / "reviews", child_environment({}, {}))
    return (await tools.prepare(worker, ReviewState(id="r1", number=1, reviewers=(), scope=scope), ""))[0]


def forge(shop: Path, kind: str, real: bytes, shown: bytes) -> str:
    """An object of the worker's own making, under the name of another one."""
    name = hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(real), real)).hexdigest()
    path = shop / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(shown), shown)))
    return name


@pytest.mark.parametrize("scope", [ReviewScope.TREE, ReviewScope.COMMITS])
async def test_a_file_that_is_not_what_its_name_says_is_judged_by_nobody(tmp_path: Path, scope: ReviewScope) -> None:
    """Git shows what it finds under a name, and commits the name: a reviewer would approve of other words."""
    shop = repository(tmp_path / "shop")
    (shop / "tool.py").write_text("import os; os.system('evil')\n")
    git(shop, "add", ".")
    if scope is ReviewScope.COMMITS:
        git(shop, "commit", "-qm", "tool")
    forge(shop, "blob", (shop / "tool.py").read_bytes(), b"print('harmless')\n")
    with pytest.raises(GitFailed, match="not what its name says"):
        await captured(tmp_path, shop, scope)
    # Neither is it shown to a person.
    worker = Worker(name="ann", since=1, backend="demo", directory=str(shop))
    folders = LocalWorkdirs(Snapshots(tmp_path / "snapshots", lambda _: worker, tmp_path / "node"))
    with pytest.raises(GitFailed, match="not what its name says"):
        await (
            folders.worktree_diff(worker, "")
            if scope is ReviewScope.TREE
            else folders.commits_diff(worker, "", "HEAD", "")
        )


async def test_nor_is_one_that_did_not_change(tmp_path: Path) -> None:
    """What stands beside a change is read by whoever judges it."""
    shop = repository(tmp_path / "shop")
    (shop / "b.py").write_text("print(2)\n")
    forge(shop, "blob", (shop / "a.py").read_bytes(), b"print('harmless')\n")
    worker = Worker(name="ann", since=1, backend="demo", directory=str(shop))
    snapshots = Snapshots(tmp_path / "snapshots", lambda _: worker, tmp_path / "node")
    tools = LocalReviewTools(snapshots, tmp_path / "reviews", child_environment({}, {}))
    asked = ReviewState(id="r1", number=1, reviewers=())
    given, _ = await tools.prepare(worker, asked, "")
    with pytest.raises(GitFailed, match="not what its name says"):
        await tools.finish(worker, replace(asked, binding=given.binding))


async def test_a_file_above_the_workers_folder_is_named_whatever_is_called_like_it_below(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "sub").mkdir()
    (shop / "sub" / "a.py").write_text("inside = 1\n")
    (shop / "a.py").write_text("outside = 1\n")
    (shop / "subway.py").write_text("beside = 1\n")
    given = await captured(tmp_path, shop / "sub")
    kept_back = [line for line in given.data.splitlines() if line.startswith("Changed as well")]
    assert kept_back == [KEPT_BACK.format(path="'a.py'"), KEPT_BACK.format(path="'subway.py'")]
    assert "+inside = 1" in given.data
    assert "diff --git a/a.py b/a.py" in given.data
    assert "outside = 1" not in given.data
    assert given.files == 3


async def test_a_name_that_is_no_utf_8_is_shown_escaped_and_with_its_text(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / os.fsdecode(b"test_\xff.py")).write_text("hidden = 1\n")
    (shop / "test_\ufffd.py").write_text("marked = 1\n")
    given = await captured(tmp_path, shop)
    assert "+hidden = 1" in given.data
    assert "+marked = 1" in given.data
    assert '"b/test_\\377.py"' in given.data
    assert given.files == 2


@pytest.mark.parametrize("tracked", [False, True])
async def test_no_attribute_of_the_repository_makes_text_binary(tmp_path: Path, tracked: bool) -> None:
    shop = repository(tmp_path / "shop")
    (shop / ".gitattributes").write_text("*.py -diff\n")
    if tracked:
        git(shop, "add", ".gitattributes")
        git(shop, "commit", "-qm", "attributes")
        (shop / ".gitattributes").unlink()
        git(shop, "update-index", "--assume-unchanged", ".gitattributes")
    else:
        (shop / ".git" / "info" / "exclude").write_text(".gitattributes\n")
    (shop / "a.py").write_text("shown = 1\n")
    given = await captured(tmp_path, shop)
    assert "+shown = 1" in given.data
    assert "Binary" not in given.data


@pytest.mark.parametrize("tracked", [False, True])
async def test_no_attribute_of_the_repository_changes_a_file_of_the_copy(tmp_path: Path, tracked: bool) -> None:
    shop = repository(tmp_path / "shop")
    # As UTF-7, text that is harmless in the repository would say something else to whoever reads the copy.
    (shop / ".gitattributes").write_text("*.py ident eol=crlf working-tree-encoding=UTF-16LE\n")
    git(shop, "config", "core.safecrlf", "false")
    (shop / "sub").mkdir()
    (shop / "sub" / ".gitattributes").write_text("*.txt ident\n")
    (shop / "sub" / "b.txt").write_text("$Id$\n")
    if tracked:
        git(shop, "add", ".gitattributes", "sub")
        git(shop, "-c", "core.attributesFile=/dev/null", "commit", "-qm", "attributes")
    else:
        (shop / ".git" / "info" / "exclude").write_text(".gitattributes\n")
    blob = git(shop, "hash-object", "-w", "--no-filters", str(_written(tmp_path / "plain.py", "print('$Id$')\n")))
    git(shop, "update-index", "--add", "--cacheinfo", f"100644,{blob},c.py")
    git(shop, "commit", "-qm", "as it is")
    head, tree = git(shop, "rev-parse", "HEAD"), git(shop, "rev-parse", "HEAD^{tree}")
    reader = Git(find_repository(shop), tmp_path / "ours")
    await reader.open()
    copies = ReviewCopies(tmp_path / "copies")
    binding = ReviewBinding(base=git(shop, "rev-parse", "HEAD~1"), head=head, tree=tree)
    made = Path(await copies.begin("r1", reader, shop, binding))
    assert (made / "c.py").read_bytes() == b"print('$Id$')\n"
    await copies.finish("r1", reader, binding)
    assert (made / "a.py").read_bytes() == b"print(1)\n"
    if tracked:
        assert (made / "sub" / "b.txt").read_bytes() == b"$Id$\n"


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


async def test_a_submodule_that_the_repository_says_to_ignore_is_named(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n\tignore = all\n')
    start = git(shop, "rev-parse", "HEAD")
    git(shop, "add", ".gitmodules")
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{start},lib")
    git(shop, "commit", "-qm", "lib")
    git(shop, "update-index", "--cacheinfo", f"160000,{git(shop, 'rev-parse', 'HEAD')},lib")
    (shop / "lib").mkdir()
    (shop / "a.py").write_text("shown = 1\n")
    given = await captured(tmp_path, shop)
    assert KEPT_BACK.format(path="'lib'") in given.data
