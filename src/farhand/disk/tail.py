"""Follows a file of lines that another program appends to: costs what was added, never what is there."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from farhand.disk.plain_files import open_plain

PIECE_BYTES = 1024 * 1024
LONGEST_LINE = 64 * 1024 * 1024


class TailedLines(msgspec.Struct, frozen=True):
    """Whole lines, and the offset after the last of them."""

    lines: tuple[bytes, ...]
    offset: int
    more: bool = False


def read_lines(path: Path, offset: int) -> TailedLines:
    """The whole lines from that offset (the cursor) on; a line that is still being written is left for the next read.

    A file that became shorter was made anew, and is read from its start.
    """
    try:
        descriptor = open_plain(path)
    except OSError:
        return TailedLines((), offset)
    try:
        size = os.fstat(descriptor).st_size
        if size < offset:
            offset = 0
        data = os.pread(descriptor, PIECE_BYTES, offset)
        while data and b"\n" not in data and offset + len(data) < size and len(data) < LONGEST_LINE:
            data += os.pread(descriptor, PIECE_BYTES, offset + len(data))
    finally:
        os.close(descriptor)
    end = data.rfind(b"\n") + 1
    if not end:
        return TailedLines((), offset)
    lines = tuple(line for line in data[:end].split(b"\n") if line.strip())
    return TailedLines(lines, offset + end, more=offset + end < size)


def size_of(path: Path) -> int:
    """How long the file is now; 0 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
