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
        data = _read_to_line_end(descriptor, offset, size)
    finally:
        os.close(descriptor)
    end = data.rfind(b"\n") + 1
    if not end:
        return TailedLines((), offset)
    lines = tuple(line for line in data[:end].split(b"\n") if line.strip())
    return TailedLines(lines, offset + end, more=offset + end < size)


def _read_to_line_end(descriptor: int, offset: int, size: int) -> bytes:
    """A piece, and more of them until one has the end of a line; each is looked at once, however long the line is."""
    pieces, end = [os.pread(descriptor, PIECE_BYTES, offset)], min(size, offset + LONGEST_LINE)
    at = offset + len(pieces[-1])
    while pieces[-1] and b"\n" not in pieces[-1] and at < end:
        pieces.append(os.pread(descriptor, PIECE_BYTES, at))
        at += len(pieces[-1])
    return b"".join(pieces)


def size_of(path: Path) -> int:
    """How long the file is now; 0 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
