"""Tells whether a repository leads git nowhere else: no link in it, no configuration that names a program or a file."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from itertools import islice

from farhand.model.git_config import is_plain_to_read, settings_of
from farhand.sdk.policies.plain_index import is_plain_index

LARGEST_CONFIG_BYTES = 65536
LARGEST_INDEX_BYTES = 16 * 1024 * 1024
MOST_REPOSITORIES = 100
# A repository with more files of its own than this is asked about.
MOST_ENTRIES = 50_000
# A folder that was changed less than this ago may be changed again without another time of change.
SETTLED_NANOSECONDS = 1_000_000_000
# Git reads nothing in these for the calls that are on the list.
_UNREAD = ("annex", "lfs", "modules")
# A file that says where the rest of a worktree's repository lies.
_COMMON = "commondir"
# With one of these, git also reads what lies elsewhere.
_ELSEWHERE = ("config.worktree", _COMMON, "info/attributes", "objects/info/alternates")


def is_plain_repository(git: str) -> bool:
    """Whether a `.git` is a folder of its own, and neither a link in it nor its configuration leads git elsewhere."""
    if os.path.islink(git) or not os.path.isdir(git):  # noqa: PTH112, PTH114
        return False
    if any(os.path.lexists(f"{git}/{name}") for name in _ELSEWHERE):
        return False
    return _has_no_links(git) and _has_plain_config(git) and _has_plain_index(git)


@dataclass(frozen=True, slots=True)
class _GitFolder:
    """What a folder holds: how many entries, which of them are folders, and whether all the others are plain files."""

    mark: tuple[int, int, int]
    entries: int
    folders: tuple[str, ...]
    plain: bool
    of_worktree: bool


# Folders that were looked at, as they were then: nothing in one becomes a link without another time of its change.
_listings: dict[str, _GitFolder] = {}


def _has_no_links(git: str) -> bool:
    """Whether all that git may read there is ordinary files in ordinary folders, and not too many to look at.

    Git follows a link in any of its files, and shows what it finds: `status` the steps of a rebase, `show` an object.
    """
    waiting, seen = [git], 0
    try:
        while waiting:
            folder = waiting.pop()
            listing = _listing(folder)
            seen += listing.entries
            if seen > MOST_ENTRIES or not listing.plain or (listing.of_worktree and not _is_of_this(folder)):
                return False
            unread = _UNREAD if folder == git else ()
            waiting += [f"{folder}/{name}" for name in listing.folders if name not in unread]
    except OSError:
        return False
    return True


def _listing(folder: str) -> _GitFolder:
    about = os.lstat(folder)
    mark = (about.st_dev, about.st_ino, about.st_ctime_ns)
    known = _listings.get(folder)
    if known is not None and known.mark == mark:
        return known
    made = _listed(folder, mark)
    if len(_listings) >= MOST_ENTRIES:
        _listings.clear()
    if time.time_ns() - about.st_ctime_ns > SETTLED_NANOSECONDS:
        _listings[folder] = made
    return made


def _listed(folder: str, mark: tuple[int, int, int]) -> _GitFolder:
    with os.scandir(folder) as found:
        entries = list(islice(found, MOST_ENTRIES + 1))
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    plain = len(folders) + len(files) == len(entries)
    return _GitFolder(mark, len(entries), tuple(folders), plain, _COMMON in files)


def _is_of_this(folder: str) -> bool:
    """Whether its `commondir` names the repository that it lies in, as git writes it for each of its worktrees."""
    with open(f"{folder}/{_COMMON}", "rb") as file:  # noqa: PTH123
        return file.read(100).strip() == b"../.."


# The last index of each repository that was read, and whether it was a plain one.
_indexes: dict[str, tuple[tuple[int, int, int, int], bool]] = {}


def _has_plain_index(git: str) -> bool:
    """Whether no path in its index leads out of the working tree: git opens it, and shows what it finds there."""
    path = f"{git}/index"
    try:
        about = os.lstat(path)
        mark = (about.st_dev, about.st_ino, about.st_size, about.st_ctime_ns)
        known = _indexes.get(path)
        if known is not None and known[0] == mark:
            return known[1]
        if about.st_size > LARGEST_INDEX_BYTES:
            return False
        with open(path, "rb") as file:  # noqa: PTH123
            plain = is_plain_index(file.read())
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if len(_indexes) >= MOST_REPOSITORIES:
        _indexes.clear()
    if time.time_ns() - about.st_ctime_ns > SETTLED_NANOSECONDS:
        _indexes[path] = (mark, plain)
    return plain


def _has_plain_config(git: str) -> bool:
    """Whether nothing in its configuration makes git run or read anything else."""
    try:
        # Line ends as git has them: nothing but LF ends a line.
        with open(f"{git}/config", encoding="utf-8", newline="") as file:  # noqa: PTH123
            text = file.read(LARGEST_CONFIG_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        return False
    return len(text) <= LARGEST_CONFIG_BYTES and is_harmless_config(text)


def is_harmless_config(text: str) -> bool:
    """Whether every line of a repository's configuration is understood, and every key on the list."""
    try:
        return is_plain_to_read(settings_of(text))
    except ValueError:
        return False
