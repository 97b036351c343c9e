"""What a reviewer is given holds all that an approval commits: each change is shown, or named as kept back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.house.reviewing import git, repository

from farhand.model.present import Worker
from farhand.model.review import Captured, ReviewBinding, ReviewState
from farhand.sandbox.environment import child_environment
from farhand.workdir.git import Git
from farhand.workdir.repository import find_repository
from farhand.workdir.review_copies import ReviewCopies
from farhand.workdir.review_tools import KEPT_BACK, LocalReviewTools
from farhand.workdir.snapshots import Snapshots

pytestmark = pytest.mark.anyio


async def captured(folder: Path, directory: Path) -> Captured:
    """What a reviewer of a worker in that directory is given."""
    worker = Worker(name="ann", since=1, backend="demo", directory=str(directory))
    snapshots = Snapshots(folder / "snapshots", lambda _: worker, folder / "node")
    tools = LocalReviewTools(snapshots, folder / "reviews", child_environment({}, {}))
    return (await tools.prepare(worker, ReviewState(id="r1", number=1, reviewers=()), ""))[0]


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
