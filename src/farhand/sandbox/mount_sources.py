"""Checks right before a start that every mount's source is still where it was: an engine follows links on this machine,
and what an agent can write it can change for a link."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from farhand.model.errors import DriverError
from farhand.model.sandbox import Mount
from farhand.sandbox.plan import is_inside

LINK = (
    "{link} is a link in a folder that workers in sandboxes can write, and {source} would be mounted through it for "
    "{worker}. Remove the link, or name the folder that it leads to."
)
MOVED = "{source} would be mounted for {worker}, and leads to {now}: an agent may have put a link there. Look at it."

# As many as the kernel follows.
MOST_LINKS = 40


class MountSources:
    """The folders in which a node's mounts lie, as they were when the node began."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._real = {folder: os.path.realpath(folder) for folder in folders}

    def check(self, mounts: Sequence[Mount], worker: str) -> None:
        """Raises DriverError when a source leads elsewhere, or through a link that an agent could have made."""
        writable = [os.path.realpath(one.source) for one in mounts if not one.read_only]
        for source in dict.fromkeys(one.source for one in mounts):
            for link in links_on(source):
                if any(is_inside(link, one) for one in writable):
                    raise DriverError(LINK.format(link=link, source=source, worker=worker))
            now = os.path.realpath(source)
            if now != self._expected(source, now):
                raise DriverError(MOVED.format(source=source, worker=worker, now=now))

    def _expected(self, source: str, now: str) -> str:
        """Where the source is, unless something below a known folder has become a link; `now` where none is known."""
        known = [folder for folder in self._real if is_inside(source, folder)]
        if not known:
            return now
        nearest = max(known, key=len)
        return str(PurePath(self._real[nearest]) / PurePath(source).relative_to(nearest))


def links_on(path: str) -> Iterator[str]:
    """The links on the way to a path, each by its own real place; those behind a link as well."""
    left, real = list(PurePath(path).parts[1:]), Path("/")
    for _ in range(MOST_LINKS):
        while left and not (real / left[0]).is_symlink():
            name = left.pop(0)
            real = real.parent if name == ".." else real / name
        if not left:
            return
        link = real / left.pop(0)
        yield str(link)
        leads = link.readlink()
        left = [*leads.parts[1 if leads.is_absolute() else 0 :], *left]
        real = Path("/") if leads.is_absolute() else real


def make_folder(path: Path) -> None:
    """Makes a folder that will be mounted, or mounted upon; raises DriverError for anything else in its place."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DriverError(f"{path} cannot be made, which a sandbox needs: {error.strerror}.") from None


def bring_over(before: Path, now: Path) -> None:
    """Moves a folder to where it is kept now, once; a link in its old place is left alone."""
    if os.path.lexists(now) or before.is_symlink() or not before.is_dir():
        return
    before.rename(now)
