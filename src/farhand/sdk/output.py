"""Collects what a process prints: a bounded part in memory, the whole of it in a file when one was asked for."""

from __future__ import annotations

import codecs
from collections import deque
from pathlib import Path
from typing import IO

LARGEST_FILE_BYTES = 64 * 1024 * 1024


class Collected:
    """Keeps the beginning and the end of a stream within `limit_bytes`; memory never grows past that."""

    def __init__(self, limit_bytes: int, spill: Path | None = None, *, spill_at_once: bool = False) -> None:
        self._head_limit = limit_bytes // 5
        self._tail_limit = limit_bytes - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._spill_path = spill
        self._spill_at_once = spill_at_once
        self._spill: IO[bytes] | None = None
        self._spilled = 0
        self.total = 0

    @property
    def overflowed(self) -> bool:
        """Whether something was left out of memory."""
        return self.total > len(self._head) + self._tail_size

    @property
    def kept_in(self) -> Path | None:
        """The file that has the whole of it, when it was too long."""
        return self._spill_path if self._spilled else None

    def add(self, chunk: bytes) -> None:
        """Takes one more piece."""
        self.total += len(chunk)
        if self._spill_at_once:
            self._open_spill()
        self._write(chunk)
        room = self._head_limit - len(self._head)
        if room > 0 and not self._tail:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_size += len(chunk)
        while self._tail_size > self._tail_limit:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._open_spill()
        excess = self._tail_size - self._tail_limit
        oldest = self._tail.popleft()
        if len(oldest) > excess:
            self._tail.appendleft(oldest[excess:])
        self._tail_size -= min(len(oldest), excess)

    def _open_spill(self) -> None:
        if self._spill is not None or self._spill_path is None:
            return
        try:
            self._spill_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._spill_path.touch(mode=0o600)
            self._spill = self._spill_path.open("wb", buffering=0)
            # Nothing was dropped yet, so that memory still has everything up to here.
            self._write(bytes(self._head) + b"".join(self._tail))
        except OSError:
            self._spill_path = None

    def _write(self, chunk: bytes) -> None:
        if self._spill is None or self._spilled >= LARGEST_FILE_BYTES:
            return
        try:
            # Unbuffered, so that a background command can be read while it runs; one write may take only a part.
            rest = memoryview(chunk)
            while rest:
                written = self._spill.write(rest)
                self._spilled += written
                rest = rest[written:]
        except OSError:
            # A full disk costs the file, never the command.
            self._spilled = 0
            self._spill_path = None
            self.close()

    def close(self) -> None:
        """Closes the file, if there is one."""
        if self._spill is not None:
            try:
                self._spill.close()
            except OSError:
                self._spilled = 0
            self._spill = None

    def text(self) -> str:
        """What is in memory; a line in the middle says how much is missing and where it is."""
        head, tail = bytes(self._head), b"".join(self._tail)
        if not self.overflowed:
            return (head + tail).decode("utf-8", errors="replace")
        missing = self.total - len(head) - len(tail)
        where = f"; the whole of it is in {self.kept_in}" if self.kept_in else ""
        return (
            f"{head.decode('utf-8', errors='replace')}\n... {missing} bytes left out here{where} ...\n"
            f"{tail.decode('utf-8', errors='replace')}"
        )


class LineAssembler:
    """Makes lines of chunks; a line that never ends is handed out in pieces."""

    LONGEST_LINE = 64 * 1024

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, chunk: bytes, *, last: bool = False) -> list[str]:
        """The lines that this chunk completes."""
        text = self._rest + self._decoder.decode(chunk, last)
        *lines, self._rest = text.split("\n")
        if len(self._rest) > self.LONGEST_LINE or (last and self._rest):
            lines.append(self._rest)
            self._rest = ""
        return lines
