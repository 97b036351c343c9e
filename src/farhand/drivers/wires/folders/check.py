"""Asks before an agent is started where the folder configures it: looks, compares with what was trusted, refuses."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Final

import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.disk.local_disks import is_local
from farhand.drivers.wires.folders.find import (
    Finding,
    FolderReads,
    as_code,
    as_led_out,
    in_settings,
    one_line,
    too_long,
    unseen,
)
from farhand.drivers.wires.folders.git_settings import (
    REPOSITORY_NAMES,
    in_repositories,
    main_trees,
    may_be_repository,
    top_of,
)
from farhand.drivers.wires.folders.scan import (
    FolderNames,
    Unseen,
    digest_of,
    folders_with,
    is_plain_name,
    listing,
    matching,
)
from farhand.model.ask_limits import ASK_SECONDS
from farhand.model.compat import INSTRUCTION_FILES
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.present import Worker

FILE: Final = "trusted_folders.json"
# More than any settings have; what is longer is not shown, and counts as a whole.
MOST_BYTES: Final = 256 * 1024
# Names that are read as quickly as this are read on the event loop: a thread and the way back from it take longer.
QUICK_SECONDS: Final = 0.0005
# A folder that is larger itself has a thousand names or more: these are read in a thread.
LARGEST_QUICK_BYTES: Final = 64 * 1024
_remembered = msgspec.json.Decoder(dict[str, list[str]])


class FolderCheck:
    """The folders that the manager trusts, by their real paths, each with what was found there when he did."""

    def __init__(
        self,
        node_folder: Path,
        ask_seconds: float = ASK_SECONDS,
        home: Path | None = None,
        quick_seconds: float = QUICK_SECONDS,
    ) -> None:
        self._path = node_folder / FILE
        self._seconds = ask_seconds
        self._home = home
        self._quick_seconds = quick_seconds
        # What nobody could look into is trusted as long as the node lives, and asked about at its next start.
        self._unseen: dict[str, set[str]] = {}
        # Directories that the names ruled everything out in, with the local disks that they and all above them are on.
        self._quick: dict[str, frozenset[int]] = {}
        # The real path of the agent's home, as it was found in a thread.
        self._own: str | None = None

    async def check(self, directory: str, reads: FolderReads) -> None:
        """Returns when nothing is found there that was not trusted; raises FolderNotTrusted with the rest."""
        if directory in self._quick and self._is_still_ruled_out(directory, reads):
            return
        await anyio.to_thread.run_sync(self._look_in_thread, directory, reads)

    def _look_in_thread(self, directory: str, reads: FolderReads) -> None:
        """Looks, and remembers where a look at the names may do the next time: all this may wait for a network."""
        self.look_now(directory, reads)
        self._own = os.path.realpath(self._home) if self._home is not None else None
        if directory == os.path.realpath(directory) and is_local(Path(directory)):
            with suppress(OSError):
                self._quick[directory] = frozenset(Path(place).stat().st_dev for place in _upwards(directory))
            self._is_still_ruled_out(directory, reads)

    def _is_still_ruled_out(self, directory: str, reads: FolderReads) -> bool:
        """Whether the names tell that nothing is there that an agent reads; where they do not, or not quickly, the next
        look is a whole one. No link is followed, no long folder read, and nothing from another disk."""
        began, devices = time.perf_counter(), self._quick.pop(directory, frozenset())
        if _opened_names(reads) is None or not all(_is_quick(place, devices) for place in _upwards(directory)):
            return False
        listed = [listing(place) for place in _places(directory, self._own)]
        if time.perf_counter() - began > self._quick_seconds or not rules_out(reads, listed):
            return False
        self._quick[directory] = devices
        return True

    def look_now(self, directory: str, reads: FolderReads) -> None:
        """The same, for a program that has nothing else to do meanwhile."""
        folder = str(Path(directory).resolve())
        found = look(Path(folder), reads, self._home)
        if not found:
            return
        trusted = {*self._trusted().get(folder, ()), *self._unseen.get(folder, ())}
        new = [one for one in found if one.digest not in trusted]
        if not new:
            return
        digests = sorted(one.digest for one in found)
        digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()

        async def trust() -> None:
            await anyio.to_thread.run_sync(self._trust, folder, [one.digest for one in found if not one.unseen])
            self._unseen[folder] = {one.digest for one in found if one.unseen}

        raise FolderNotTrusted(folder, listed(found, new), digest, self._seconds, trust)

    def _trusted(self) -> dict[str, list[str]]:
        """What was trusted; a file that cannot be read trusts nothing."""
        try:
            return _remembered.decode(self._path.read_bytes())
        except (OSError, msgspec.DecodeError):
            return {}

    def _trust(self, folder: str, digests: list[str]) -> None:
        everything = self._trusted()
        known = {*everything.get(folder, ()), *digests}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._path, msgspec.json.encode({**everything, folder: sorted(known)}), sync=True)


class FolderGate:
    """What a driver asks before it starts an agent: whether the folder may configure it."""

    def __init__(self, folders: FolderCheck, reads: FolderReads) -> None:
        self._folders = folders
        self._reads = reads

    async def pass_through(self, worker: Worker) -> None:
        """Returns when the worker's agent may be started where it works; raises FolderNotTrusted otherwise."""
        await self._folders.check(worker.directory, self._reads)


def listed(found: Iterable[Finding], new: Iterable[Finding]) -> str:
    """What was found, a line each, what nobody has seen yet first."""
    fresh = list(new)
    known = sum(1 for one in found if one not in fresh)
    lines = [one_line(f"{one.file}: {one.words}") for one in fresh]
    return "\n".join([*lines, f"(and {known} that you trusted before)"] if known else lines)


def rules_out(reads: FolderReads, places: Iterable[FolderNames]) -> bool:
    """Whether folders with these names hold nothing that a look would open."""
    opened = _opened_names(reads)
    return opened is not None and all(one.names is not None and opened.isdisjoint(one.names) for one in places)


@cache
def _opened_names(reads: FolderReads) -> frozenset[str] | None:
    """The first names of all paths that a look would open, in small letters; None where no list of names tells them."""
    names = {pattern.partition("/")[0] for pattern in (*reads.settings, *reads.code)}
    if reads.below or any(not is_plain_name(name) for name in names):
        return None
    return frozenset(name.lower() for name in (*names, *INSTRUCTION_FILES, *REPOSITORY_NAMES))


def look(folder: Path, reads: FolderReads, home: Path | None = None) -> list[Finding]:
    """All that the folder, and those above it, give the agent whose home that is."""
    found: list[Finding] = []
    own = os.path.realpath(home) if home is not None else None
    places = {Path(place): listing(place) for place in _places(str(folder), own)}
    trees = [place for place, listed in places.items() if may_be_repository(listed)]
    for place in dict.fromkeys((*places, *main_trees(trees))):
        listed = places[place] if place in places else listing(place)
        for patterns, in_file in ((reads.settings, partial(_settings, reads.harmless)), (reads.code, _code)):
            files, too_many = matching(place, patterns, listed)
            for file in files:
                found += in_file(file, str(file.relative_to(place)) if place == folder else str(file))
            if too_many is not None:
                found.append(unseen(str(place), too_many.why, too_many.mark))
    for place in folders_with(folder, {pattern.partition("/")[0] for pattern in reads.below}):
        files, too_many = matching(place, reads.below, listing(place))
        found += [one for file in files for one in _code(file, str(file.relative_to(folder)))]
        found += [unseen(str(place), too_many.why, too_many.mark)] if too_many is not None else []
    return [*found, *_led_out(folder, places), *in_repositories(trees)]


def _led_out(folder: Path, places: Mapping[Path, FolderNames]) -> list[Finding]:
    """Files of instructions that are links out of the repository: agents send what they read there to their model."""
    found: list[Finding] = []
    for place, listed in places.items():
        if listed.names is not None and INSTRUCTION_FILES.isdisjoint(listed.names):
            continue
        for name in sorted(one for one in listed.every if one.lower() in INSTRUCTION_FILES):
            if not (place / name).is_symlink():
                continue
            top = top_of(folder)
            target = Path(os.path.realpath(place / name))
            if not target.is_relative_to(os.path.realpath(top if place.is_relative_to(top) else place)):
                found.append(as_led_out(name if place == folder else str(place / name), str(target)))
    return found


def _settings(harmless: Iterable[str], file: Path, name: str) -> list[Finding]:
    digest = digest_of(file)
    if isinstance(digest, Unseen):
        return [unseen(name, digest.why, digest.mark)]
    try:
        size = file.stat().st_size
        return in_settings(name, file.read_bytes(), harmless) if size <= MOST_BYTES else [too_long(name, size, digest)]
    except OSError as error:
        return [unseen(name, error.strerror or "unreadable", digest)]


def _code(file: Path, name: str) -> list[Finding]:
    digest = digest_of(file)
    return [unseen(name, digest.why, digest.mark) if isinstance(digest, Unseen) else as_code(name, digest)]


def _places(folder: str, own: str | None) -> list[str]:
    """The folder and all above it: agents read upwards, beyond the repository and where there is none.

    What lies in the agent's own home is the person's, and read wherever the agent works.
    """
    return [place for place in reversed(_upwards(folder)) if place == folder or place != own]


def _upwards(folder: str) -> list[str]:
    """The folder and all above it, the uppermost first."""
    found = [folder]
    while (above := os.path.dirname(found[-1])) != found[-1]:  # noqa: PTH120 - asked before every turn
        found.append(above)
    return found[::-1]


def _is_quick(place: str, devices: frozenset[int]) -> bool:
    """Whether it is a folder of few names, and no link to one, on one of these disks."""
    try:
        about = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_dev in devices and about.st_size <= LARGEST_QUICK_BYTES
