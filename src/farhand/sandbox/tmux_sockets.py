"""Keeps the person's tmux servers out of sandboxes: whoever can connect to one has it run commands outside."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from farhand.model.errors import DriverError
from farhand.model.sandbox import Mount
from farhand.sandbox.mount_sources import make_folder
from farhand.sandbox.plan import is_inside

# Where tmux, X servers and many other programs have their sockets.
TEMPORARY = "/tmp"  # noqa: S108
WHOLE_TEMPORARY = (
    "{path} holds the sockets of tmux and of other programs outside, which a sandbox must not reach: give {worker} a "
    "folder below it."
)
AROUND = (
    "A tmux server has its socket in {folder}, which {worker} would see in its sandbox. Set FARHAND_TMUX_SOCKET or "
    "TMUX_TMPDIR to a folder that holds nothing else."
)


def tmux_in_mounts(folders: Sequence[str], directory: str, mounts: Sequence[Mount], worker: str) -> list[str]:
    """The folders of tmux sockets that must be hidden, each made if it is not there yet: a server may begin later.

    Raises DriverError where they cannot be: a mount of all of /tmp, or a worker that works among the sockets."""
    for mount in mounts:
        if is_inside(os.path.realpath(TEMPORARY), os.path.realpath(mount.source)):
            raise DriverError(WHOLE_TEMPORARY.format(path=mount.source, worker=worker))
    found = []
    for folder in folders:
        shown = [mount for mount in mounts if is_inside(folder, os.path.realpath(mount.source))]
        inside = any(is_inside(os.path.realpath(one), folder) for one in (directory, *(one.source for one in shown)))
        # It is hidden by its real path, which is not where it is behind a link.
        if shown and (inside or not all(is_inside(folder, mount.source) for mount in shown)):
            raise DriverError(AROUND.format(folder=folder, worker=worker))
        if shown:
            make_folder(Path(folder))
            found.append(folder)
    return found


def tmux_folders(socket: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The real folders in which sockets of tmux servers may lie: the usual one, that of a socket which is named by its
    path, and that of the server in which the node itself runs."""
    usual = Path(environment.get("TMUX_TMPDIR") or TEMPORARY) / f"tmux-{os.getuid()}"
    named = [socket] if "/" in socket else []
    around = environment.get("TMUX", "").partition(",")[0]
    found = [usual, *(Path(one).absolute().parent for one in (*named, around) if one)]
    return tuple(dict.fromkeys(os.path.realpath(one) for one in found))
