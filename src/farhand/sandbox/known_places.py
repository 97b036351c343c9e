"""Where the folders of sandboxes really were when they were first used: an agent that can write above one of them can
rename it, and put a link there that leads out with the next start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from farhand.disk.atomic import write_private
from farhand.model.errors import DriverError
from farhand.model.present import Worker
from farhand.model.sandbox import Mount

RECORDS = "sandboxes"
MOVED = "{path} is not where it was: an agent may have moved it. Look at it before you start {worker} again."
LEADS_ELSEWHERE = (
    "{path} led to {before} and leads to {now} now. If you have changed that yourself, end {worker} and hire it again."
)
TOO_HIGH = "{path} is above the home folder: a sandbox with it would hold everything. Hire {worker} in a folder below."


class KnownPlaces:
    """The node's own folder and the mounts since its start, a worker's folder since its first start."""

    def __init__(self, records: Path, nodes: str, home: str, mounts: Iterable[Mount]) -> None:
        self._records = records
        self._home = home
        self._nodes = nodes
        self._identity = _identity(nodes)
        self._sources = {one.source: os.path.realpath(one.source) for one in mounts}

    def checked(self, worker: Worker, is_there: Callable[[str], bool]) -> str:
        """The real folder that the worker works in; raises DriverError when something is not what it was.

        `is_there` knows the hirings of the team: what was kept for others goes."""
        if _identity(self._nodes) != self._identity:
            raise DriverError(MOVED.format(path=self._nodes, worker=worker.name))
        for source, before in self._sources.items():
            _compare(source, before, os.path.realpath(source), worker.name)
        now, known = os.path.realpath(worker.directory), self.directory(worker)
        if PurePath(self._home) != PurePath(now) and PurePath(self._home).is_relative_to(now):
            raise DriverError(TOO_HIGH.format(path=now, worker=worker.name))
        if known:
            _compare(worker.directory, known, now, worker.name)
            return known
        self._forget_others(is_there)
        write_private(_file(self._records, worker.hiring_id), now)
        return now

    def directory(self, worker: Worker) -> str:
        """Where its folder really was at its first start; empty before that."""
        return first_directory(self._records, worker.hiring_id)

    def _forget_others(self, is_there: Callable[[str], bool]) -> None:
        for one in self._records.glob("*.folder"):
            if not is_there(one.stem):
                with suppress(OSError):
                    one.unlink()


def first_directory(records: Path, hiring: str) -> str:
    """Where the folder of a hiring in a sandbox really was at its first start; empty before that."""
    try:
        return _file(records, hiring).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _file(records: Path, hiring: str) -> Path:
    return records / f"{hiring}.folder"


def _identity(path: str) -> tuple[int, int] | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _compare(path: str, before: str, now: str, worker: str) -> None:
    if now != before:
        raise DriverError(LEADS_ELSEWHERE.format(path=path, before=before, now=now, worker=worker))
