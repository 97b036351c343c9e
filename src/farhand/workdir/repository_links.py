"""Finds what of a repository lies outside of what an agent sees: git follows every link in its folder, and the list of
further folders of objects, and an agent that can write there could have led it to another repository."""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from farhand.workdir.repository import Repository, read_small

# Of each repository's folder, what git reads through ours, or what is read for it.
_READ = ("HEAD", "config", "commondir", "index", "packed-refs", "refs", "objects", "info", "logs")
_ALTERNATES = Path("info") / "alternates"
# More than any repository has that is looked after; one with more is not looked through.
_MOST_ENTRIES = 500_000
_MOST_ALTERNATES = 20


def leads_out(repository: Repository, folder: Path, seen: Collection[str]) -> bool:
    """Whether the folder, or anything that git reads of the repository, lies outside of what an agent sees that could
    have led there: by a link, by a `.git` that names another repository, or by objects that lie elsewhere."""

    def is_seen(path: Path) -> bool:
        return any(path.is_relative_to(one) for one in seen)

    if not is_seen(folder.resolve()):
        return True
    # One above what the agent sees cannot have been changed by it.
    return is_seen(repository.top) and not (
        is_seen(repository.git)
        and is_seen(repository.shared)
        and all(_stays_inside(one, is_seen) for one in dict.fromkeys((repository.git, repository.shared)))
        and _alternates_stay_inside(repository.shared / "objects", is_seen)
    )


def _stays_inside(top: Path, is_seen: Callable[[Path], bool]) -> bool:
    for number, link in enumerate(_entries(top)):
        if number > _MOST_ENTRIES or (link is not None and not is_seen(link.resolve())):
            return False
    return True


def _entries(top: Path) -> Iterator[Path | None]:
    """Everything in what git reads below that folder, a link as itself; none is followed."""
    for name in _READ:
        here = top / name
        yield here if here.is_symlink() else None
        for folder, folders, files in os.walk(here):
            for one in (*folders, *files):
                path = Path(folder, one)
                yield path if path.is_symlink() else None


def _alternates_stay_inside(objects: Path, is_seen: Callable[[Path], bool]) -> bool:
    """Whether all further folders of objects do, and those that they name in turn, with all that is in them."""
    left, known = [objects], {objects}
    while left:
        named = _alternates(left.pop())
        if named is None or len(known) > _MOST_ALTERNATES:
            return False
        for one in named - known:
            if not is_seen(one) or not _stays_inside(one.parent, is_seen):
                return False
            known.add(one)
            left.append(one)
    return True


def _alternates(objects: Path) -> set[Path] | None:
    """Where further objects are looked for; None where that cannot be told."""
    try:
        lines = read_small(objects / _ALTERNATES).splitlines()
    except FileNotFoundError:
        return set()
    except OSError:
        return None
    named = [line for line in lines if line and not line.startswith("#")]
    # A line in quotes has escapes of git's own.
    return None if any(line.startswith('"') for line in named) else {(objects / line).resolve() for line in named}
