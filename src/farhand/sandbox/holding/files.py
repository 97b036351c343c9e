"""The files of a held child: its output, its errors, the ledger (write-ahead log) of its input; atomic writes."""
# Pathlib would cost memory that every holder pays.

from __future__ import annotations

import errno
import json
import os

Json = dict[str, object]


def write_whole(name: str, value: Json) -> None:
    """A file that is there whole, also after a power cut, or not at all."""
    descriptor = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, json.dumps(value).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(f"{name}.new", name)
    folder = os.open(".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class FeedLedger:
    """What became of every id: `begun` is on disk before the first byte is written, `taken` after the last one."""

    def __init__(self) -> None:
        self._fates: dict[str, str] = {}
        self._file = os.open("ledger", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._size = 0

    def note(self, fate: str, feed_id: str) -> None:
        """Raises OSError, with no half line left behind, when the disk does not take it."""
        line = f"{fate} {json.dumps(feed_id)}\n".encode()
        try:
            if os.write(self._file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def remember(self, fate: str, feed_id: str) -> str:
        """Notes what is already so; on a full disk only this process knows it. Returns what went wrong, if anything."""
        self._fates[feed_id] = fate
        try:
            self.note(fate, feed_id)
        except OSError as error:
            return str(error.strerror)
        return ""

    def knows(self, feed_id: str) -> bool:
        return self.answer(feed_id) != "not_taken"

    def begin(self, feed_id: str) -> None:
        self.note("begun", feed_id)
        self._fates[feed_id] = "begun"

    def answer(self, feed_id: str) -> str:
        fate = self._fates.get(feed_id, "lost")
        return {"lost": "not_taken", "taken": "taken"}.get(fate, "unknown")


class Output:
    """The file `out`: all that the child wrote, in order; what finds no room on the disk waits and is retried."""

    def __init__(self) -> None:
        self.file = os.open("out", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self.size = 0
        self.waiting = b""
        self.trouble = ""

    def append(self, data: bytes) -> None:
        self.waiting += data
        self.trouble = ""
        while self.waiting:
            try:
                written = os.write(self.file, self.waiting)
            except OSError as error:
                self.trouble = str(error.strerror)
                return
            self.size += written
            self.waiting = self.waiting[written:]


class Errors:
    """The file `err`: the last part of the child's stderr, at most `limit` bytes of it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._file = os.open("err", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._size = 0

    def append(self, data: bytes) -> None:
        try:
            if self._size + len(data) > self._limit:
                kept = os.pread(self._file, self._limit // 2, max(0, self._size - self._limit // 2))
                data = (kept + data)[-self._limit :]
                os.ftruncate(self._file, 0)
                self._size = 0
            self._size += os.write(self._file, data)
        except OSError:
            return  # a disk without room costs the tail of stderr, never the child
