"""The two message files of a project on the disk: changed under a lock, whole or not at all, foreign writes kept.

Whoever else writes them need not know the lock: what was put there between our read and our write is merged, since both
files change places in one step. A copy of this module runs inside an agent CLI's hooks: it imports the standard library
and its neighbours alone.
"""

from __future__ import annotations

import fcntl
import json
import os
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
        found, inode = self._read()
        if inode < 0:
            return found
        held, found = found, rules.merged(found, self._displaced(self._left()), self._done)
        for _ in range(_TRIES):
            wanted = change(found)
            displaced = None if wanted == held and (inode or not wanted) else self._replace(self._write(wanted), inode)
            if displaced is None:
                self._forget_displaced()
                break
            # Somebody wrote after we had read: theirs and ours are put together.
            messages, inode = displaced
            found, held = rules.merged(wanted, messages, self._done), wanted
        return wanted

    def _read(self) -> tuple[list[Message], int]:
        """The messages and the file's inode: 0 when there is none, -1 when it makes no sense and is left alone."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return [], 0
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            data = file.read()
        try:
            return rules.parse(data), about.st_ino
        except rules.Malformed as problem:
            return [], self._unreadable(data, time.time() - about.st_mtime, about.st_ino, str(problem))

    def _unreadable(self, data: bytes, age: float, inode: int, problem: str) -> int:
        if age < SETTLED_SECONDS:
            sys.stderr.write(f"{self.path} makes no sense yet ({problem}).\n")
            return -1
        if not data.strip():
            return inode
        self.set_aside = f"{self.path}.malformed-{int(time.time())}"
        os.rename(self.path, self.set_aside)
        sys.stderr.write(f"{self.path} made no sense ({problem}) and was set aside: {self.set_aside}\n")
        return 0

    def _write(self, messages: list[Message]) -> str:
        fresh = f"{self.path}.{os.getpid()}-{os.urandom(3).hex()}.tmp"
        write_private(fresh, rules.encode(messages))
        return fresh

    def _replace(self, fresh: str, inode: int) -> tuple[list[Message], int] | None:
        """Puts the fresh file in place; what it displaced, if that is not what was read, and the fresh one's inode."""
        ours = os.stat(fresh).st_ino
        if not inode:
            # Where there are no hard links, the rename below does it.
            with suppress(OSError):
                os.link(fresh, self.path)
                os.unlink(fresh)
                return None
        if not exchange(fresh, self.path):
            os.rename(fresh, self.path)
            return None
        displaced = None if os.stat(fresh).st_ino == inode else (self._displaced([fresh]), ours)
        if displaced is None or not displaced[0]:
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


def write_private(path: str, data: bytes) -> None:
    """A new file, 0600 whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
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
            with open(self._path, encoding="utf-8") as file:
                content = json.load(file)
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
