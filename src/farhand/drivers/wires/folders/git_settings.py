"""What the settings of a folder's own repository would have git run: agents run it unasked, to see what changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from farhand.disk.plain_files import read_plain
from farhand.drivers.wires.folders.find import Finding, as_code, in_git_settings, unseen
from farhand.drivers.wires.folders.scan import FolderNames, Unseen, digest_of, mark_of
from farhand.model.git_index import SUBMODULE, index_entries

# Of hooks, those that git runs where it only looks.
HOOKS: Final = ("post-index-change",)
# One of these is in every folder that git may take for a repository, or for its working tree.
REPOSITORY_NAMES: Final = (".git", "HEAD")
MOST_BYTES: Final = 256 * 1024
MOST_INDEX_BYTES: Final = 64 * 1024 * 1024
MOST_REPOSITORIES: Final = 200
_LONGEST_PATH: Final = 4096


def top_of(folder: Path) -> Path:
    """The top of the repository that the folder belongs to; the folder itself where there is none."""
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), folder)


def may_be_repository(listed: FolderNames) -> bool:
    """Whether git may take the folder with these names for a repository, or for its working tree."""
    return any(listed.may_have(name) for name in REPOSITORY_NAMES)


def in_repositories(places: Iterable[Path]) -> list[Finding]:
    """What the repositories there give, and those below that are parts of them."""
    waiting = [repository for place in places for repository in _at(place)]
    found: list[Finding] = []
    known: set[Path] = set()
    while waiting and len(known) < MOST_REPOSITORIES:
        top, git = waiting.pop(0)
        if git in known:
            continue
        known.add(git)
        found += _in_repository(top, git)
        waiting += [below for path in _submodules(git, found) for below in _at(top / path)]
    return found


def main_trees(places: Iterable[Path]) -> list[Path]:
    """The main working trees of those places that are other trees of a repository: agents read their settings there."""
    found = [(place, _shared(git)) for one in places for place, git in _at(one)]
    return list(
        dict.fromkeys(shared.parent for place, shared in found if place.resolve() not in (shared, shared.parent))
    )


def _at(place: Path) -> Iterator[tuple[Path, Path]]:
    """The repository of that folder: its `.git`, where that leads, or the folder itself where git takes it for one."""
    git = place / ".git"
    if git.is_dir():
        yield place, git.resolve()
    elif os.path.lexists(git):
        named = _line(git).removeprefix("gitdir:").strip()
        yield place, (place / named).resolve()
    elif (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir():
        yield place, place.resolve()


def _in_repository(top: Path, git: Path) -> Iterator[Finding]:
    shared = _shared(git)
    for file in dict.fromkeys((shared / "config", git / "config.worktree")):
        if os.path.lexists(file):
            yield from _settings(file, top)
    for name in HOOKS:
        hook = shared / "hooks" / name
        if os.path.lexists(hook):
            told = digest_of(hook)
            yield unseen(str(hook), told.why, told.mark) if isinstance(told, Unseen) else as_code(str(hook), told)


def _settings(file: Path, top: Path) -> list[Finding]:
    digest = digest_of(file)
    if isinstance(digest, Unseen):
        return [unseen(str(file), digest.why, digest.mark)]
    try:
        if file.stat().st_size > MOST_BYTES:
            return [unseen(str(file), "too long", digest)]
        return in_git_settings(str(file), file.read_bytes(), lambda value: (file.parent / value).resolve() == top)
    except OSError as error:
        return [unseen(str(file), error.strerror or "unreadable", digest)]


def _submodules(git: Path, found: list[Finding]) -> list[str]:
    """The paths of repositories that are parts of this one: git enters them when it tells what changed."""
    index, paths = git / "index", list[str]()
    try:
        if not index.is_file():
            return []
        if index.stat().st_size > MOST_INDEX_BYTES:
            raise ValueError("too long")
        content = read_plain(index, MOST_INDEX_BYTES)
        paths += [os.fsdecode(path) for path, mode in index_entries(content) if mode == SUBMODULE]
    except OSError:
        found.append(unseen(str(index), "unreadable", mark_of(index)))
    except (ValueError, IndexError):
        # Asked about once, not at each change of it: some people's own git writes one that is divided.
        found.append(as_code(str(index), "an index that cannot be read here"))
    return paths


def _shared(git: Path) -> Path:
    named = _line(git / "commondir")
    return (git / named).resolve() if named else git


def _line(file: Path) -> str:
    try:
        return os.fsdecode(read_plain(file, _LONGEST_PATH)).strip()
    except OSError:
        return ""
