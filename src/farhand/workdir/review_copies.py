"""Copies of what is judged, one folder a review: the files of a tree, without what could speak to a reviewer."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

import anyio.to_thread

from farhand.disk.atomic import write_private
from farhand.model.compat import INSTRUCTION_FILES
from farhand.model.errors import GitFailed
from farhand.model.review import ReviewBinding
from farhand.model.secret_names import may_hold_secret
from farhand.model.verdict import INLINE_CHARACTERS, PATCH_FILE
from farhand.workdir.git import Git, together
from farhand.workdir.verified_objects import verified_objects

MOST_FILES = 5000
MOST_BYTES = 100 * 1024 * 1024
MOST_NAMES_BYTES = 256 * 1024 * 1024
FILES, INDEX, NOWHERE = "files", "index", "nowhere"
ATTRIBUTES = b".gitattributes"
_PLAIN = ("100644", "100755")


def is_copied(path: str) -> bool:
    """Whether a reviewer gets the file: nothing that configures agents or tells them what to do, nothing secret."""
    parts = PurePosixPath(path).parts
    if any(part.startswith(".") for part in parts) or may_hold_secret(path):
        return False
    return parts[-1].lower() not in INSTRUCTION_FILES and parts[-1] != PATCH_FILE


class ReviewCopies:
    """The copies below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _place(self, review: str) -> Path:
        # A review's id is ours; its folder's name is all the same made of nothing but hexadecimal digits.
        return self._folder / hashlib.sha256(review.encode()).hexdigest()[:24]

    async def empty(self, review: str, data: str) -> str:
        """A folder without files, but for the text where it is long."""
        files = self._place(review) / FILES
        await anyio.to_thread.run_sync(_fresh, files, data)
        return str(files)

    async def begin(self, review: str, git: Git, directory: Path, binding: ReviewBinding) -> str:
        """The folder that stands for the worker's, in a copy of the tree: first with the files that changed."""
        place = self._place(review)
        inside = await anyio.to_thread.run_sync(lambda: directory.resolve().relative_to(git.repository.top))
        await anyio.to_thread.run_sync(_fresh, place / FILES, "")
        names, _ = await together(partial(_changed, git, binding), partial(_fill_index, git, binding, place / INDEX))
        await self._write(git, place, names)
        return str(place / FILES / inside)

    async def finish(self, review: str, git: Git, binding: ReviewBinding) -> None:
        """Adds the files that did not change, unless there are too many of them."""
        listed = await git.run("ls-tree", "-r", "-z", "-l", "--full-tree", binding.tree)
        entries = [] if listed.cut else list(_entries(listed.data))
        if len(entries) > MOST_FILES or sum(size for _, _, size in entries) > MOST_BYTES:
            return
        place = self._place(review)
        objects = {name: one for name, one, _ in entries if is_copied(name)}
        missing = await anyio.to_thread.run_sync(_missing, place / FILES, list(objects))
        async with verified_objects(git) as store:
            await store.take_files(objects[name] for name in missing)
            # By the index that was filled from trees whose names were checked: any other object is not found there.
            await self._write(store.git, place, missing)

    async def _write(self, git: Git, place: Path, names: list[str]) -> None:
        given = b"".join(os.fsencode(name) + b"\0" for name in names)
        # Links are written as files that say where they lead: nothing outside is reached through the copy.
        words = ("-c", "core.symlinks=false", "checkout-index", "-q", "-z", "--stdin", f"--prefix={place / FILES}/")
        # In a folder without files: the repository's own may have attributes, which say how files are written.
        nowhere = place / NOWHERE
        await anyio.to_thread.run_sync(partial(nowhere.mkdir, mode=0o700, exist_ok=True))
        variables = {"GIT_WORK_TREE": str(nowhere)}
        await git.run(*words, index=place / INDEX, stdin=given, cwd=nowhere, variables=variables)

    async def keep_text(self, directory: str, data: str) -> None:
        """Puts a text that is too long for a prompt into the reviewers' folder."""
        await anyio.to_thread.run_sync(_keep, Path(directory), data)

    async def keep_only(self, reviews: Collection[str]) -> None:
        """Removes all others."""
        kept = {self._place(review).name for review in reviews}

        def remove() -> None:
            for one in self._folder.iterdir() if self._folder.is_dir() else ():
                if one.name not in kept:
                    shutil.rmtree(one, ignore_errors=True)

        await anyio.to_thread.run_sync(remove)


def _missing(files: Path, names: list[str]) -> list[str]:
    """Those that are not there: git would call it a failure to write one again."""
    return [name for name in names if not os.path.lexists(files / name)]


def _fresh(files: Path, data: str) -> None:
    shutil.rmtree(files.parent, ignore_errors=True)
    files.mkdir(mode=0o700, parents=True)
    _keep(files, data)


def _keep(folder: Path, data: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if len(data) > INLINE_CHARACTERS:
        write_private(folder / PATCH_FILE, data)


async def _fill_index(git: Git, binding: ReviewBinding, index: Path) -> None:
    """The tree without attributes: by them an agent would have its files written in another encoding than they have."""
    await git.run("read-tree", binding.tree, index=index)
    listed = await git.run("ls-files", "-z", index=index, most=MOST_NAMES_BYTES)
    if listed.cut:
        raise GitFailed("The repository has too many files to be copied.")
    found = [name for name in listed.data.split(b"\0") if name.rpartition(b"/")[2].lower() == ATTRIBUTES]
    if found:
        await git.run("update-index", "-z", "--force-remove", "--stdin", index=index, stdin=b"\0".join([*found, b""]))


async def _changed(git: Git, binding: ReviewBinding) -> list[str]:
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=AMT")
    changed = await git.run(*words, binding.base or binding.tree, binding.tree, "--")
    names = [os.fsdecode(name) for name in changed.data.split(b"\0") if name]
    return [name for name in names if is_copied(name)][:MOST_FILES]


def _entries(data: bytes) -> Iterator[tuple[str, str, int]]:
    for line in data.split(b"\0"):
        about, tab, name = line.partition(b"\t")
        mode, _, name_of_object, size = [*about.decode().split(), "", "", "", ""][:4]
        if tab and (mode in _PLAIN or mode == "120000"):
            yield os.fsdecode(name), name_of_object, int(size) if size.isdigit() else 0
