"""The pipes of workers in sandboxes: each has one of its own to every worker, so that its name is known, not claimed.

A folder a hiring, with `<worker>/in.pipe` for every worker; its sandbox has that folder where others have the real
pipes. The folder is mounted, and not what is in it: who is hired later is there, too."""

import os
import resource
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio.abc
import anyio.to_thread

from farhand.channels.files.pipes import PipeEnds, Pipes
from farhand.channels.files.worker_files import PIPE, make_pipe_at, private
from farhand.model.errors import NodeError
from farhand.model.present import Worker

# Where the limit of open files cannot be raised, these pipes may be one of so many.
MOST_OF_ALL = 8


class SenderPipes:
    """Keeps these pipes as the team is: made for whoever comes, removed with whoever goes."""

    def __init__(self, root: Path, folder_of: Callable[[Worker], Path | None], pipes: Pipes) -> None:
        self._root = root
        self._folder_of = folder_of
        self._pipes = pipes
        self._open: set[Path] = set()
        # What the process could open without these pipes: they must take nothing of what is kept free for the door.
        self._descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def update(self, workers: Mapping[str, Worker], tasks: anyio.abc.TaskGroup) -> None:
        """Makes what is missing, reads it, and removes what is of nobody any more."""
        folders = {folder: one for one in workers.values() if (folder := self._folder_of(one)) is not None}
        wanted = {
            folder / name / PIPE: PipeEnds(worker=name, writer=sender.name)
            for folder, sender in folders.items()
            for name in workers
        }
        for gone in self._open - wanted.keys():
            self._pipes.stop(gone)
        self._open &= wanted.keys()
        make_room(self._descriptors, len(wanted))
        missing = [path for path in wanted if path not in self._open]
        await anyio.to_thread.run_sync(self._make, missing, folders, workers)
        for path in missing:
            self._pipes.start(path, wanted[path], tasks)
        self._open = set(wanted)

    def _make(self, missing: list[Path], folders: Mapping[Path, Worker], workers: Mapping[str, Worker]) -> None:
        self._remove_others(folders, workers)
        for path in missing:
            private(path.parent, self._root)
            make_pipe_at(path)

    def _remove_others(self, folders: Mapping[Path, Worker], workers: Mapping[str, Worker]) -> None:
        for folder in _folders_in(self._root):
            if folder not in folders:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            for named in _folders_in(folder):
                if named.name not in workers:
                    shutil.rmtree(named, ignore_errors=True)


def make_room(before: int, count: int) -> None:
    """Lets the process open so many more than before, as far as it may; raises NodeError where that is not enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY in (before, soft):
        return
    needed = before + count if hard == resource.RLIM_INFINITY else min(before + count, hard)
    if needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    if count > needed // MOST_OF_ALL and needed < before + count:
        raise NodeError(f"{count} pipes are too many for this process: `ulimit -Hn` says {hard}.")


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return [folder / one.name for one in found if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
