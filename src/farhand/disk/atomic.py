"""Atomic file writes: a file has its old content or its new one, never a part, and is readable by its owner alone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
# A long name must leave room for the random part of the temporary one.
_NAME_CHARACTERS = 40


def write_private(path: Path, content: bytes | str, *, sync: bool = False) -> None:
    """Replaces the file, mode 0600 under any umask; a missing parent folder is made 0700.

    With `sync` the content is on the disk before the file has its name."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, content, mode=PRIVATE, sync=sync)


def replace_file(path: Path, content: bytes | str, *, mode: int, sync: bool = False) -> None:
    """Replaces the file with one of exactly that mode: temporary file beside it, optional fsync, rename.

    The temporary name is random and opened with O_EXCL, so no symlink that waits there is followed. Text is UTF-8."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name[:_NAME_CHARACTERS]}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            # The umask has no say in it.
            os.fchmod(descriptor, mode)
            file.write(data)
            if sync:
                file.flush()
                os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def append(path: Path, data: bytes, *, sync: bool = False) -> int:
    """Appends all of the data or none of it, to a file of mode 0600 that is made when missing; its size after that.

    With `sync` the data is on the disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    try:
        start = os.fstat(descriptor).st_size
        try:
            rest = data
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            # The disk is full: what was written of it would be half a line.
            with suppress(OSError):
                os.ftruncate(descriptor, start)
            raise
        if sync:
            os.fsync(descriptor)
        return start + len(data)
    finally:
        os.close(descriptor)
