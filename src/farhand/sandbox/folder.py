"""The folder of a held child: who may own it, and what its files say, also when the holder is long gone."""

import ctypes
import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from farhand.model.errors import DriverError
from farhand.model.holder_ports import Exit, Fed
from farhand.model.words import Word

CHUNK = 256 * 1024
ERRORS_SHOWN = 4096
# Of fallocate(2).
KEEP_SIZE, PUNCH_HOLE = 1, 2


class Life(Word):
    """What tells this holder and its child from any other: numbers, the child's start, the machine's start."""

    holder: int
    child: int
    ticks: int | None = None
    boot: str | None = None
    at: float


def feed_outcome(lines: Iterable[bytes], key: str) -> Fed:
    """What the ledger proves of a key. A line cut short by a power failure is no line."""
    found = Fed.NOT_TAKEN
    wanted = json.dumps(key).encode() + b"\n"
    for line in lines:
        word, _, rest = line.partition(b" ")
        if rest == wanted:
            found = {b"taken": Fed.TAKEN, b"lost": Fed.NOT_TAKEN}.get(word, Fed.UNKNOWN)
    return found


class Folder:
    """An open folder; its files are reached through the descriptor, whatever its path's length."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        found = os.fstat(self._descriptor)
        if found.st_uid != os.geteuid():
            raise DriverError(f"The folder {self.path} belongs to another user; farhand does not use it.")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise DriverError(f"The folder {self.path} is open to others; it must be closed to them (chmod 700).")

    def close(self) -> None:
        """Done twice, it does nothing more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def socket(self) -> str:
        """The way to the holder's socket: short on Linux, where a path to a socket may have 108 bytes only."""
        short = f"/proc/self/fd/{self._descriptor}"
        return f"{short}/sock" if Path(short).exists() else str(self.path / "sock")

    def _open(self, name: str, flags: int = os.O_RDONLY) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=self._descriptor)

    def _read(self, name: str, last: int | None = None) -> bytes | None:
        try:
            file = self._open(name)
        except FileNotFoundError:
            return None
        with os.fdopen(file, "rb") as opened:
            if last is not None:
                opened.seek(max(0, os.fstat(file).st_size - last))
            return opened.read()

    def write_order(self, order: object) -> None:
        """Puts the order where the holder looks for it, whole."""
        file = self._open("order.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(file, "wb") as opened:
            opened.write(json.dumps(order).encode())
        os.rename("order.new", "order.json", src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def withdraw_order(self) -> bool:
        """Takes back an order that no holder has begun with: one that is still on its way to it then starts no child.

        False where a holder has the folder."""
        lock = self._open("lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                os.unlink("order.json", dir_fd=self._descriptor)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def life(self) -> Life | None:
        """None while there never was a child."""
        said = self._read("life")
        return None if said is None else msgspec.json.decode(said, type=Life)

    def exit(self) -> Exit | None:
        """How the child ended; None while it lives, or when its holder was killed."""
        said = self._read("exit")
        if said is None:
            return None
        return Exit(**msgspec.to_builtins(msgspec.json.decode(said, type=Exit)) | {"errors": self.errors()})

    def errors(self) -> str:
        """The last words of the child's stderr."""
        return (self._read("err", last=ERRORS_SHOWN) or b"").decode(errors="replace")

    def feed_outcome(self, key: str) -> Fed:
        """The outcome of a feed, from the ledger."""
        return feed_outcome((self._read("ledger") or b"").splitlines(keepends=True), key)

    def size(self) -> int:
        """How many bytes of output there are."""
        try:
            return os.stat("out", dir_fd=self._descriptor).st_size
        except FileNotFoundError:
            return 0

    def output(self, offset: int) -> Iterator[bytes]:
        """What the file of the output has from that byte on."""
        try:
            file = self._open("out")
        except FileNotFoundError:
            return
        with os.fdopen(file, "rb", buffering=0) as opened:
            opened.seek(offset)
            while chunk := opened.read(CHUNK):
                yield chunk

    def release(self, offset: int) -> None:
        """Punches a hole where the output was read: its size stays, its room is free. Not every disk can."""
        try:
            file = self._open("out", os.O_WRONLY)
        except FileNotFoundError:
            return
        try:
            ctypes.CDLL(None).fallocate(file, PUNCH_HOLE | KEEP_SIZE, ctypes.c_int64(0), ctypes.c_int64(offset))
        except AttributeError:
            return
        finally:
            os.close(file)

    def is_held(self) -> bool:
        """Whether a holder has the folder's lock, which it keeps from its start to its end."""
        try:
            file = self._open("lock")
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False
