"""Lists folders and reads files of a worker's folder: nothing outside of it, and no link is ever followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from farhand.model.errors import BadInput, NotInFolder, TooLarge
from farhand.model.workdir import (
    MOST_ENTRIES,
    RAW_BYTES,
    TEXT_BYTES,
    EntryKind,
    FileText,
    FolderEntry,
    FolderListing,
)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LONGEST_PATH = 4096


def parts_of(path: str) -> tuple[str, ...]:
    """The names on the way, from the worker's folder on; BadInput for a path that leads anywhere else."""
    if len(path) > _LONGEST_PATH or "\0" in path:
        raise BadInput("That is no path.")
    given = PurePosixPath(path)
    if given.is_absolute() or ".." in given.parts:
        raise BadInput("A path goes from the worker's folder on, and does not leave it.", path=path[:200])
    return given.parts


def is_private(root: Path, path: str, private: Path) -> bool:
    """Whether the path, from that root on, is the private folder or below it, itself or where it leads as a link."""
    given, hidden = root / path, os.path.realpath(private)
    itself = Path(os.path.realpath(given.parent)) / given.name
    return itself.is_relative_to(hidden) or Path(os.path.realpath(given)).is_relative_to(hidden)


@contextmanager
def _opened(root: Path, parts: tuple[str, ...], flags: int) -> Iterator[int]:
    """Opens name by name, each below the one before: no link on the way is followed, whoever puts it there."""
    try:
        # The folder itself may be reached by a link: it is the one that the worker was hired for.
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for number, name in enumerate(parts, start=1):
            try:
                below = os.open(name, flags if number == len(parts) else _FOLDER, dir_fd=here)
            finally:
                os.close(here)
            here = below
    except OSError as error:
        raise _not_shown("/".join(parts) or ".", error) from None
    try:
        yield here
    finally:
        os.close(here)


def _not_shown(path: str, error: OSError) -> NotInFolder:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        why = "it is a link"
    else:
        why = (error.strerror or "it cannot be read").lower()
    return NotInFolder(f"{path} is not shown: {why}.", path=path)


def list_folder(root: Path, path: str) -> FolderListing:
    """What is in that folder, folders first, each by its name."""
    parts = parts_of(path)
    with _opened(root, parts, _FOLDER) as folder:
        names = os.listdir(folder)  # noqa: PTH208 - of a descriptor
        shown = sorted(names)[: MOST_ENTRIES * 2]
        entries = [entry for name in shown if (entry := _entry(folder, name)) is not None]
    entries.sort(key=lambda entry: (entry.kind != "folder", entry.name.lower(), entry.name))
    more = len(names) > MOST_ENTRIES
    return FolderListing(path="/".join(parts), entries=tuple(entries[:MOST_ENTRIES]), more=more)


def _entry(folder: int, name: str) -> FolderEntry | None:
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        name.encode()
    except (OSError, UnicodeEncodeError):
        # Gone since, or with a name that no JSON can say.
        return None
    kind = _kind(about.st_mode)
    return FolderEntry(name=name, kind=kind, size=about.st_size if kind == "file" else 0, at=about.st_mtime)


def _kind(mode: int) -> EntryKind:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "other"


def read_text(root: Path, path: str) -> FileText:
    """The beginning of a file, if it is text."""
    with _opened_file(root, path) as (file, about):
        data = _read(file, TEXT_BYTES)
    cut = about.st_size > len(data)
    return FileText(path=path, size=about.st_size, text=_as_text(data, cut=cut), cut=cut)


def _as_text(data: bytes, *, cut: bool) -> str | None:
    if b"\0" in data:
        return None
    # A cut may go through the middle of a character.
    for lost in range(4 if cut else 1):
        try:
            return data[: len(data) - lost].decode()
        except UnicodeDecodeError:
            continue
    return None


def read_content(root: Path, path: str) -> bytes:
    """The whole file; TooLarge for one that is."""
    with _opened_file(root, path) as (file, about):
        if about.st_size > RAW_BYTES:
            raise TooLarge(path, RAW_BYTES)
        return _read(file, RAW_BYTES)


@contextmanager
def _opened_file(root: Path, path: str) -> Iterator[tuple[int, os.stat_result]]:
    parts = parts_of(path)
    with _opened(root, parts, _FILE) as file:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise NotInFolder(f"{path or '.'} is no file.", path=path)
        yield file, about


def _read(file: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(file, min(most, 1 << 20))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
