"""The folder of a node: its lock, its key, and the plain files that other programs read. All for the owner alone."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from farhand.disk import processes
from farhand.disk.atomic import write_private
from farhand.model import compat
from farhand.model.errors import NodeError, NodeRunning, StoreFull

SHORTEST_KEY = 16


def make(folder: Path) -> None:
    """Makes the folder 0700, and those above it that are missing; refuses one that is somebody else's, or whose link
    is."""
    try:
        # Made by the umask, a folder above could be one in which others put something else into this one's place.
        for above in reversed([one for one in folder.parents if not one.exists()]):
            above.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid != os.getuid() or folder.lstat().st_uid != os.getuid():
            raise NodeError(f"{folder} belongs to somebody else; farhand does not use it.", path=str(folder))
        folder.chmod(0o700)
    except OSError as error:
        hints = ("FARHAND_HOME says where nodes are kept; it must be a folder of yours",)
        raise NodeError(f"{folder} cannot be used: {error.strerror}.", hints=hints, path=str(folder)) from None


def write(path: Path, text: str) -> None:
    """Writes a small file atomically, 0600 and on the disk; says so in a sentence when the disk is full."""
    try:
        write_private(path, text, sync=True)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull(f"The disk is full: {path} cannot be written.", path=str(path)) from None
        raise


def key(path: Path) -> str:
    """The node's key, made at the first start. One that is empty or cut short would let anybody in: it is made anew."""
    found = path.read_text("utf-8", errors="replace").strip() if path.exists() else ""
    if len(found) >= SHORTEST_KEY:
        return found
    import secrets  # costs a command that only looks more than all the rest

    made = secrets.token_urlsafe(32)
    write(path, made)
    return made


@contextmanager
def lock(folder: Path, node: str, port: int) -> Iterator[None]:
    """Holds the node for this process; a second one is refused. A killed node's lock is free by itself."""
    make(folder)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NodeRunning(f"Node '{node}' is already running (pid {running(folder) or '?'}).", node=node) from None
        _sign(descriptor)
        write(folder / compat.PID_FILE, f"{os.getpid()}\n")
        write(folder / compat.BRIDGE_PID_FILE, f"{os.getpid()}\n")
        write(folder / compat.PORT_FILE, f"{port}\n")
        yield
        for name in (compat.PID_FILE, compat.BRIDGE_PID_FILE):
            (folder / name).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Writes into the lock who holds it and since when, so that nobody takes a later process of that number for it."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, processes.identity(os.getpid()).encode(), 0)


def _unsigned(folder: Path) -> int | None:
    """The process in the pid file, for a lock of an earlier version, which has no name in it."""
    if (folder / "lock").stat().st_size:
        return None
    return processes.read_identity(folder / compat.PID_FILE)


def running(folder: Path) -> int | None:
    """The process that holds the node, or None when nobody does."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Shared, so that two who look at once do not take each other for the node.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        # Between the taking of the lock and its signature, it still has the name of whoever held it before.
        return processes.read_identity(folder / "lock") or _unsigned(folder)
    finally:
        os.close(descriptor)
    return None
