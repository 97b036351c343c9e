"""Reads what is compared by its name: git believes the objects that it finds, and an agent can write them.

An object's name is the digest of what is in it. Git checks that where it fetches, and not where it shows a file. What
somebody is to judge is therefore read once, checked, and kept in an object store of its own, in which git finds nothing
else."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from farhand.model.errors import GitFailed
from farhand.workdir.git import Git

FORGED: Final = "The repository has an object that is not what its name says ({name}): it was tampered with."
BROKEN: Final = "The repository has an object that cannot be read ({name})."
MOST_BYTES: Final = 256 * 1024 * 1024
AT_ONCE: Final = 500
_FOLDER, _SUBMODULE = b"40000", b"160000"
# What a tree has: the mode and the object of each name.
Entries = dict[bytes, tuple[bytes, str]]


@dataclass(frozen=True)
class GitObject:
    """An object whose name was checked."""

    name: str
    kind: str
    content: bytes

    def entries(self) -> Entries:
        """Of a tree."""
        found: Entries = {}
        at, size = 0, len(self.name) // 2
        while at < len(self.content):
            space = self.content.index(b" ", at)
            end = self.content.index(b"\0", space)
            found[self.content[space + 1 : end]] = self.content[at:space], self.content[end + 1 : end + 1 + size].hex()
            at = end + 1 + size
        return found

    def lines(self, word: str) -> list[str]:
        """What a commit says behind that word, before its text."""
        head = self.content.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
        return [one.removeprefix(f"{word} ") for one in head if one.startswith(f"{word} ")]

    def line(self, word: str) -> str:
        """The first of them."""
        return next(iter(self.lines(word)), "")


class VerifiedObjects:
    """An object store for one comparison, filled with what was read from a repository and checked."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._folder = git.ours / f"verified-{secrets.token_hex(8)}"
        self._known: dict[str, GitObject] = {}

    @property
    def git(self) -> Git:
        """Git that finds nothing but these."""
        return replace(self._git, objects=self._folder)

    def open(self) -> None:
        """Makes the folder."""
        self._folder.mkdir(mode=0o700, parents=True)

    def close(self) -> None:
        """Removes it."""
        shutil.rmtree(self._folder, ignore_errors=True)

    async def find(self, named: str) -> GitObject:
        """The commit or tree of that name."""
        answer = await self._git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{object}}")
        return (await self._read([answer.data.decode().strip()]))[0]

    async def tree_of(self, named: str) -> str:
        """The tree that this commit names, or that it is itself."""
        found = await self.find(named)
        return found.line("tree") if found.kind == "commit" else found.name

    async def take_difference(self, base: str, tree: str) -> None:
        """All that differs between the two trees."""
        pairs, files = {(base, tree)} if base != tree else set[tuple[str, str]](), set[str]()
        while pairs:
            await self._read({one for pair in pairs for one in pair if one})
            below = set[tuple[str, str]]()
            for before, after in pairs:
                for one, other in _differing(self._entries(before), self._entries(after)):
                    files |= {name for mode, name in (one, other) if mode not in (b"", _FOLDER, _SUBMODULE)}
                    folders = tuple(name if mode == _FOLDER else "" for mode, name in (one, other))
                    if any(folders):
                        below.add((folders[0], folders[1]))
            pairs = below
        await self.take_files(files)

    async def take_folders(self, tree: str) -> None:
        """The tree, and all trees below it."""
        level = {tree}
        while level:
            await self._read(level)
            level = {name for one in level for mode, name in self._entries(one).values() if mode == _FOLDER}

    async def take_files(self, names: Iterable[str]) -> None:
        """The contents of files; nothing of them is held in memory."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._known]
        for start in range(0, len(wanted), AT_ONCE):
            await self._fetch(wanted[start : start + AT_ONCE])

    def _entries(self, tree: str) -> Entries:
        try:
            return self._known[tree].entries() if tree else {}
        except ValueError:
            raise GitFailed(BROKEN.format(name=tree)) from None

    async def _read(self, names: Iterable[str]) -> list[GitObject]:
        wanted = list(dict.fromkeys(names))
        missing = [name for name in wanted if name not in self._known]
        for start in range(0, len(missing), AT_ONCE):
            self._known.update({one.name: one for one in await self._fetch(missing[start : start + AT_ONCE])})
        return [self._known[name] for name in wanted]

    async def _fetch(self, names: list[str]) -> list[GitObject]:
        answer = await self._git.run("cat-file", "--batch", stdin="\n".join([*names, ""]).encode(), most=MOST_BYTES)
        if answer.cut:
            raise GitFailed("The change is too large to be compared.")
        return await anyio.to_thread.run_sync(_checked, names, answer.data, self._folder)


@asynccontextmanager
async def verified_objects(git: Git) -> AsyncIterator[VerifiedObjects]:
    """A store that is removed in the end."""
    store = VerifiedObjects(git)
    await anyio.to_thread.run_sync(store.open)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(store.close)


@asynccontextmanager
async def verified_difference(git: Git, base: str, head: str) -> AsyncIterator[tuple[Git, str, str]]:
    """Git that finds what differs between two commits or trees, and nothing else; and the two trees."""
    async with verified_objects(git) as store:
        before, after = await store.tree_of(base), await store.tree_of(head)
        await store.take_difference(before, after)
        yield store.git, before, after


def _differing(before: Entries, after: Entries) -> Iterable[tuple[tuple[bytes, str], tuple[bytes, str]]]:
    nothing = (b"", "")
    for name in before.keys() | after.keys():
        one, other = before.get(name, nothing), after.get(name, nothing)
        if one != other:
            yield one, other


def _checked(names: list[str], data: bytes, folder: Path) -> list[GitObject]:
    """The objects of an answer, each written to the folder under the name that it has."""
    found, at = list[GitObject](), 0
    for name in names:
        end = data.index(b"\n", at)
        words = data[at:end].decode("utf-8", "replace").split(" ")
        if len(words) != 3 or words[0] != name:
            raise GitFailed(BROKEN.format(name=name[:64]))
        kind, size = words[1], int(words[2])
        one = GitObject(name, kind, data[end + 1 : end + 1 + size])
        at = end + 2 + size
        whole = f"{kind} {size}\0".encode() + one.content
        digest = partial(hashlib.new, "sha1" if len(name) == 40 else "sha256", usedforsecurity=False)
        if digest(whole).hexdigest() != name:
            raise GitFailed(FORGED.format(name=name))
        path = folder / name[:2] / name[2:]
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(zlib.compress(whole, 1))
        found.append(one)
    return found
