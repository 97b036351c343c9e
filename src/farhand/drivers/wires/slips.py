"""A file of small words beside an agent's own files: written down one by one, and read back whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Generic

import msgspec

from farhand.model.words import AnyWord

MOST = 500


class Slips(Generic[AnyWord]):
    """Words of one kind, in the order in which they were written."""

    def __init__(self, path: Path, kind: type[AnyWord]) -> None:
        self._path = path
        self._kind = kind

    def add(self, one: AnyWord, *, sync: bool = False) -> None:
        """Writes one down; with `sync` it is on the disk before this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A line that a kill cut off ends here, so that it costs nobody but itself.
            os.write(descriptor, b"\n" + msgspec.json.encode(one) + b"\n")
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def all(self) -> list[AnyWord]:
        """The newest of them, oldest first; what cannot be read is passed over."""
        try:
            lines = [line for line in self._path.read_bytes().splitlines() if line][-MOST:]
        except OSError:
            return []
        found: list[AnyWord] = []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=self._kind))
            except msgspec.MsgspecError:
                continue
        return found
