"""Which files of a folder an agent reads, linked folders among them, and the digest of what stands in each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Final

from farhand.model.words import Word

# What is longer is known by its size and its times alone.
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_FILES: Final = 500
# A link may lead to a whole disk.
MOST_SEEN: Final = 20_000
MOST_FOLDERS: Final = 2_000
# Of a whole project; it takes half a second to look into so many.
MOST_BELOW: Final = 20_000
_EVERYWHERE: Final = "/**/"


class Unseen(Word):
    """Something that nobody looked into: why, and a mark that is another one when it was changed."""

    why: str
    mark: str


class FolderNames(Word):
    """The names in a folder, read once; None where it cannot be told by them which files are there."""

    names: frozenset[str] | None
    every: tuple[str, ...] = ()

    def may_have(self, name: str) -> bool:
        """Whether a file of that name may be there. Some disks do not tell great letters from small ones."""
        return self.names is None or not is_plain_name(name) or name.lower() in self.names


def is_plain_name(name: str) -> bool:
    """Whether it names one file of a folder: no pattern, and not the folder itself or the one above."""
    return name not in ("", ".", "..") and not has_magic(name)


def listing(place: Path | str) -> FolderNames:
    """Reads the names in that folder."""
    try:
        every = os.listdir(place)  # noqa: PTH208 - asked before every turn: names alone will do
    except OSError:
        return FolderNames(names=None)
    # No name has this character: all of them are looked at in one go.
    joined = "\0".join(every)
    # To some disks a letter that nobody sees is none, and a long s is an s.
    return FolderNames(names=frozenset(joined.lower().split("\0")) if joined.isascii() else None, every=tuple(every))


def matching(place: Path, patterns: Iterable[str], listed: FolderNames) -> tuple[list[Path], Unseen | None]:
    """The files that fit, and what is told of them when they are too many."""
    possible = [pattern for pattern in patterns if listed.may_have(pattern.partition("/")[0])]
    every = list(dict.fromkeys(one for pattern in possible for one in islice(_fitting(place, pattern), MOST_SEEN)))
    if len(every) <= MOST_FILES:
        return every, None
    marks = "\n".join(f"{one}\0{mark_of(one)}" for one in every[MOST_FILES:])
    digest = hashlib.sha256(marks.encode("utf-8", "surrogatepass")).hexdigest()
    return every[:MOST_FILES], Unseen(why=f"more than {MOST_FILES} files", mark=digest)


def folders_with(folder: Path, names: Collection[str]) -> list[Path]:
    """The folders below this one that have a folder of one of these names; links are not followed."""
    found: list[Path] = []
    walk = os.walk(folder) if names else iter(())
    for at, folders, _ in islice(walk, MOST_BELOW):
        if at != str(folder) and not set(names).isdisjoint(folders):
            found.append(Path(at))
        folders[:] = [one for one in sorted(folders) if one not in names and one != ".git"]
    return found


def digest_of(file: Path) -> str | Unseen:
    """The digest of what stands in the file, or why it cannot be looked at."""
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):
            return Unseen(why="no ordinary file", mark=mark_of(file))
        if about.st_size > MOST_BYTES:
            return Unseen(why=f"{about.st_size:,} bytes", mark=mark_of(file))
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        return Unseen(why=error.strerror or "unreadable", mark=mark_of(file))


def mark_of(file: Path) -> str:
    """What is another one when the file was changed: nobody but the system sets the time of the last change."""
    try:
        about = file.stat()
    except OSError:
        try:
            about = file.lstat()
        except OSError as error:
            return str(error.errno)
    return f"{about.st_dev}:{about.st_ino}:{about.st_size}:{about.st_mtime_ns}:{about.st_ctime_ns}"


def _fitting(place: Path, pattern: str) -> Iterator[Path]:
    base, everywhere, name = pattern.partition(_EVERYWHERE)
    if everywhere:
        yield from _below(place / base, name)
        return
    try:
        found = sorted(place.glob(pattern))
    except OSError:
        return
    yield from (one for one in found if not _is_folder(one))


def _below(base: Path, name: str) -> Iterator[Path]:
    """All files of that name below, in linked folders as well, each folder once; and folders that let nobody look."""
    closed: list[OSError] = []
    known: set[tuple[int, int]] = set()
    walk = os.walk(base, followlinks=True, onerror=closed.append)
    for number, (folder, folders, files) in enumerate(walk):
        if number == MOST_FOLDERS:
            # Nobody looked into what lies beyond: the folder stands for it, and a folder always asks.
            yield Path(folder)
            break
        folders[:] = [one for one in sorted(folders) if _is_new(Path(folder, one), known)]
        yield from (Path(folder, one) for one in sorted(files) if fnmatchcase(one, name))
    yield from (Path(one.filename) for one in closed if isinstance(one, PermissionError))


def _is_new(folder: Path, known: set[tuple[int, int]]) -> bool:
    try:
        about = folder.stat()
    except OSError:
        return True
    one = (about.st_dev, about.st_ino)
    is_new = one not in known
    known.add(one)
    return is_new


def _is_folder(file: Path) -> bool:
    try:
        return file.is_dir()
    except OSError:
        return False
