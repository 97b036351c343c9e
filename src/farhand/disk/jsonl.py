"""Append-only JSONL: one record a line, the newest of them read back; a line that a kill cut off costs only itself."""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Generic

import msgspec

from farhand.disk.atomic import append, write_private
from farhand.model.words import AnyWord

MOST = 500
# A file that is larger is written anew as soon as half of its lines are too old to be read.
MOST_BYTES = 1_000_000


class JsonlFile(Generic[AnyWord]):
    """Records of one type, in the order in which they were appended."""

    def __init__(self, path: Path, record_type: type[AnyWord]) -> None:
        self._path = path
        self._type = record_type
        # Cache of what was read so far, the inode it is of, and the offset up to which.
        self._cached: deque[AnyWord] = deque(maxlen=MOST)
        self._inode = 0
        self._offset = 0

    def add(self, one: AnyWord, *, sync: bool = False) -> None:
        """Appends one record; with `sync` it is on the disk before this returns."""
        # A line that a kill cut off ends here, so that it costs nobody but itself.
        size = append(self._path, b"\n" + msgspec.json.encode(one) + b"\n", sync=sync)
        if size > MOST_BYTES:
            self._shorten()

    def all(self) -> list[AnyWord]:
        """The newest of them, oldest first; what cannot be decoded is skipped."""
        try:
            added = self._added()
        except OSError:
            return []
        *whole, rest = added.split(b"\n")
        self._offset += len(added) - len(rest)
        self._cached.extend(self._read(whole))
        # The last line may be whole but for its end.
        return [*self._cached, *self._read([rest])][-MOST:]

    def _added(self) -> bytes:
        """What was appended since the last read, or all of it if the file was replaced or truncated."""
        with self._path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self._offset:
                self._inode, self._offset = found.st_ino, 0
                self._cached.clear()
            file.seek(self._offset)
            return file.read()

    def _read(self, lines: list[bytes]) -> list[AnyWord]:
        found: list[AnyWord] = []
        for line in filter(None, lines):
            try:
                found.append(msgspec.json.decode(line, type=self._type))
            except msgspec.MsgspecError:
                continue
        return found

    def _shorten(self) -> None:
        lines = [line for line in self._path.read_bytes().splitlines() if line]
        if len(lines) >= 2 * MOST:
            # Where there is no room for it, the long file serves as well.
            with suppress(OSError):
                write_private(self._path, b"\n".join(lines[-MOST:]) + b"\n", sync=True)
