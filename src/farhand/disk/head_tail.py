"""The first and the last lines of a file of lines, however long it is in between."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from farhand.disk.plain_files import open_plain

END_BYTES = 128 * 1024


class HeadAndTail(msgspec.Struct, frozen=True):
    """Whole lines from both ends of a file; the same ones on both sides when `whole`."""

    head: tuple[bytes, ...] = ()
    tail: tuple[bytes, ...] = ()
    whole: bool = True
    written_at: float = 0.0


def read_ends(path: Path, each_bytes: int = END_BYTES) -> HeadAndTail:
    """What stands at both ends; nothing for a file that cannot be read. Half a line is left out."""
    try:
        descriptor = open_plain(path)
    except OSError:
        return HeadAndTail()
    try:
        found = os.fstat(descriptor)
        head = os.pread(descriptor, each_bytes, 0)
        if found.st_size <= each_bytes:
            lines = _lines(head[: head.rfind(b"\n") + 1])
            return HeadAndTail(lines, lines, whole=True, written_at=found.st_mtime)
        tail = os.pread(descriptor, each_bytes, max(found.st_size - each_bytes, 0))
    except OSError:
        return HeadAndTail()
    finally:
        os.close(descriptor)
    first = _lines(head[: head.rfind(b"\n") + 1])
    last = _lines(tail[tail.find(b"\n") + 1 : tail.rfind(b"\n") + 1])
    return HeadAndTail(first, last, whole=False, written_at=found.st_mtime)


def _lines(data: bytes) -> tuple[bytes, ...]:
    return tuple(line for line in data.split(b"\n") if line.strip())


def newest(paths: Iterable[Path], most: int) -> list[Path]:
    """The files that were written last, newest first; what cannot be looked at is left out."""
    dated: list[tuple[float, Path]] = []
    for path in paths:
        try:
            dated.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(dated, key=lambda one: (-one[0], one[1].name))[:most]]
