"""A file of small words beside an agent's own files: written down one by one, the newest of them read back."""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Generic

import msgspec

from farhand.disk.atomic import write_private
from farhand.model.words import AnyWord

MOST = 500
# A file that is larger is written anew as soon as half of its lines are too old to be read.
MOST_BYTES = 1_000_000


class JsonlFile(Generic[AnyWord]):
    """Words of one kind, in the order in which they were written."""

    def __init__(self, path: Path, kind: type[AnyWord]) -> None:
        self._path = path
        self._kind = kind
        # What was read so far, of which file, and up to where.
        self._found: deque[AnyWord] = deque(maxlen=MOST)
        self._file = 0
        self._offset = 0

    def add(self, one: AnyWord, *, sync: bool = False) -> None:
        """Writes one down; with `sync` it is on the disk before this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A line that a kill cut off ends here, so that it costs nobody but itself.
            os.write(descriptor, b"\n" + msgspec.json.encode(one) + b"\n")
            if sync:
                os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > MOST_BYTES:
            self._shorten()

    def all(self) -> list[AnyWord]:
        """The newest of them, oldest first; what cannot be read is passed over."""
        try:
            added = self._added()
        except OSError:
            return []
        *whole, rest = added.split(b"\n")
        self._offset += len(added) - len(rest)
        self._found.extend(self._read(whole))
        # The last line may be whole but for its end.
        return [*self._found, *self._read([rest])][-MOST:]

    def _added(self) -> bytes:
        """What was added since the last look, or all of it if this is another file."""
        with self._path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._file or found.st_size < self._offset:
                self._file, self._offset = found.st_ino, 0
                self._found.clear()
            file.seek(self._offset)
            return file.read()

    def _read(self, lines: list[bytes]) -> list[AnyWord]:
        found: list[AnyWord] = []
        for line in filter(None, lines):
            try:
                found.append(msgspec.json.decode(line, type=self._kind))
            except msgspec.MsgspecError:
                continue
        return found

    def _shorten(self) -> None:
        lines = [line for line in self._path.read_bytes().splitlines() if line]
        if len(lines) >= 2 * MOST:
            # Where there is no room for it, the long file serves as well.
            with suppress(OSError):
                write_private(self._path, b"\n".join(lines[-MOST:]) + b"\n", sync=True)
