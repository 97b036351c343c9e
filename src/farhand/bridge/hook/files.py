"""The two message files of a project on the disk: changed under a lock, whole or not at all, foreign writes kept.

Whoever else writes them need not know the lock: what was put there between our read and our write is merged, since both
files change places in one step. A copy of this module runs inside an agent CLI's hooks: it imports the standard library
and its neighbours alone.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from farhand.bridge.hook import rules
from farhand.bridge.hook.rules import Message
from farhand.bridge.hook.swap import exchange

LOCK = "wa_bridge.lock"
STATE = "wa_bridge.json"
PRIVATE = 0o600
# A file that makes no sense is only set aside when nobody can still be writing it.
SETTLED_SECONDS = 1.0
MOST_KEYS = 500
LARGEST_BYTES = 32 * 1024 * 1024
# In place of what a file holds: it makes no sense, and somebody may still be writing it.
UNSETTLED = b"?"
_TRIES = 50

Change = Callable[[list[Message]], list[Message]]


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """One writer at a time in this folder, hooks and nodes alike; a killed one leaves no lock behind."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class MessageFile:
    """One of the two files; `done` is what its messages become: read, or sent. Used inside `locked`."""

    def __init__(self, folder: str, name: str, done: str) -> None:
        self.path = os.path.join(folder, name)
        self._done = done
        # What was found malformed and put elsewhere.
        self.set_aside = ""

    def messages(self) -> list[Message]:
        """What it holds now."""
        return rules.merged(self._read()[0], self._displaced(self._left()), self._done)

    def change(self, change: Change) -> list[Message]:
        """Applies the change to what the file holds, until it holds that and what others wrote meanwhile."""
        found, data = self._read()
        if data == UNSETTLED:
            return found
        held, found = found, rules.merged(found, self._displaced(self._left()), self._done)
        for _ in range(_TRIES):
            wanted = change(found)
            is_so = wanted == held and (data is not None or not wanted)
            displaced = None if is_so else self._replace(rules.encode(wanted), data)
            if displaced is None:
                self._forget_displaced()
                break
            # Somebody wrote after we had read: theirs and ours are put together.
            found, held, data = rules.merged(wanted, displaced, self._done), wanted, rules.encode(wanted)
        return wanted

    def _read(self) -> tuple[list[Message], bytes | None]:
        """The messages and what the file holds to the byte: None when there is none, UNSETTLED when it makes no sense
        and is left alone."""
        try:
            data, written = read_regular(self.path)
        except FileNotFoundError:
            return [], None
        try:
            return rules.parse(data), data
        except rules.Malformed as problem:
            return [], self._unreadable(data, time.time() - written, str(problem))

    def _unreadable(self, data: bytes, age: float, problem: str) -> bytes | None:
        if age < SETTLED_SECONDS:
            sys.stderr.write(f"{self.path} makes no sense yet ({problem}).\n")
            return UNSETTLED
        if not data.strip():
            return data
        self.set_aside = f"{self.path}.malformed-{int(time.time())}"
        os.rename(self.path, self.set_aside)
        sys.stderr.write(f"{self.path} made no sense ({problem}) and was set aside: {self.set_aside}\n")
        return None

    def _replace(self, content: bytes, before: bytes | None) -> list[Message] | None:
        """Puts this content in place of what was read; what it displaced, if that is something else.

        Told by what it holds: the number of a file that was replaced is soon another one's."""
        fresh = f"{self.path}.{os.getpid()}-{os.urandom(3).hex()}.tmp"
        write_private(fresh, content)
        if before is None:
            # Where there are no hard links, the rename below does it.
            with suppress(OSError):
                os.link(fresh, self.path)
                os.unlink(fresh)
                return None
        if not exchange(fresh, self.path):
            os.rename(fresh, self.path)
            return None
        with open(fresh, "rb") as file:
            is_what_was_read = file.read() == before
        displaced = [] if is_what_was_read else self._displaced([fresh])
        if not displaced:
            os.unlink(fresh)
            return None
        return displaced

    def _left(self) -> list[str]:
        """What writers of ours displaced and a kill kept them from merging."""
        folder, name = os.path.split(self.path)
        found = [one for one in os.listdir(folder) if one.startswith(name + ".") and one.endswith(".tmp")]
        # `<name>.tmp` itself is what others write to.
        return [os.path.join(folder, one) for one in found if one != f"{name}.tmp"]

    def _forget_displaced(self) -> None:
        for path in self._left():
            with suppress(OSError):
                os.unlink(path)

    def _displaced(self, paths: list[str]) -> list[Message]:
        found: list[Message] = []
        for path in paths:
            with suppress(OSError, rules.Malformed), open(path, "rb") as file:
                found = rules.merged(found, rules.parse(file.read()), self._done)
        return found


def is_own_folder(path: str) -> bool:
    """Whether it is a folder of this user's own, and no link: a repository could lead us elsewhere by one."""
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()


def read_regular(path: str, folder: int | None = None) -> tuple[bytes, float]:
    """What a file holds and when it was written; OSError for a link, a pipe, a device and what is too large."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(path, flags, dir_fd=folder), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_BYTES:
            raise OSError(errno.EINVAL, "it is no file, or too large", path)
        return file.read(), about.st_mtime


def write_private(path: str, data: bytes, folder: int | None = None) -> None:
    """A new file, 0600 whatever the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, PRIVATE, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, PRIVATE)
        file.write(data)


class BridgeState:
    """What the hooks keep beside the files: what was read, what is not known to be sent, and the sprint."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, STATE)
        stored = self._stored()
        self.seen = [str(one) for one in _items(stored, "seen")]
        # Not yet in the outbox; in it, and not yet seen there as sent.
        self.queued = [one for one in _items(stored, "queued") if isinstance(one, dict)]
        self.pending = [one for one in _items(stored, "pending") if isinstance(one, dict)]
        self.sprint = stored.get("sprint")
        self.stopping = stored.get("stopping") is True

    def _stored(self) -> dict[str, object]:
        try:
            content = json.loads(read_regular(self._path)[0])
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def write(self) -> None:
        """Keeps it, whole or not at all."""
        content = {
            "seen": self.seen[-MOST_KEYS:],
            "queued": self.queued,
            "pending": self.pending,
            "sprint": self.sprint,
            "stopping": self.stopping,
        }
        fresh = f"{self._path}.{os.getpid()}-{os.urandom(3).hex()}.new"
        write_private(fresh, (json.dumps(content, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
        os.rename(fresh, self._path)


def _items(stored: dict[str, object], name: str) -> list[object]:
    found = stored.get(name)
    return found if isinstance(found, list) else []
