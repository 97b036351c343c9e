"""Waits for changes in folders: by inotify where there is one, by polling elsewhere."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import struct
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from farhand.model.logger import get_logger

log = get_logger("folders")
POLL_SECONDS = 0.3
# Written to, closed after writing, moved here, created.
_CHANGES = 0x2 | 0x8 | 0x80 | 0x100
# The kernel's event queue overflowed; a watch ended with its folder.
_OVERFLOWED = 0x4000
_IGNORED = 0x8000
_HEAD = struct.Struct("iIII")


class FolderWatcher:
    """One inotify for all folders of a node. A folder that nobody writes to costs nothing."""

    def __init__(self) -> None:
        self._events: dict[str, anyio.Event] = {}
        # Whoever watches a folder, each by the name of the file there whose changes do not count for it.
        self._users: dict[str, list[str]] = {}
        # The kernel has one watch for a folder, by however many paths it is watched.
        self._watches: dict[int, set[str]] = {}
        # Folders without an inotify watch, which are polled.
        self._polled: set[str] = set()
        self._polling_needed = anyio.Event()
        self._descriptor = -1
        self._libc: ctypes.CDLL | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[FolderWatcher]:
        """Watches inside this block."""
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._poll)
                if self._descriptor >= 0:
                    tasks.start_soon(self._listen)
                yield self
                tasks.cancel_scope.cancel()
        finally:
            # Only now: nobody waits for it any more.
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    @contextmanager
    def watched(self, folder: Path, but: str = "") -> Iterator[FolderChange]:
        """Changes in this folder, but those of one file: a lock that a look takes would lead to the next look. Where
        somebody else watches the same path, and every file there, all changes are told."""
        key = str(folder)
        self._events.setdefault(key, anyio.Event())
        self._users.setdefault(key, []).append(but)
        if not self._watch(key):
            self._poll_instead(key, os.strerror(ctypes.get_errno()))
        try:
            yield FolderChange(self, key)
        finally:
            self._users[key].remove(but)
            if not self._users[key]:
                self._unwatch(key)

    def event(self, key: str) -> anyio.Event:
        """The event that the next change in that folder sets."""
        return self._events[key]

    # --- which folders

    def _watch(self, key: str) -> bool:
        if self._libc is None or self._descriptor < 0:
            return False
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(key), _CHANGES)
        if watch >= 0:
            self._watches.setdefault(watch, set()).add(key)
        return bool(watch >= 0)

    def _poll_instead(self, key: str, why: str) -> None:
        if key not in self._polled and self._descriptor >= 0:
            log.warning("folder not watched", folder=key, why=why)
        self._polled.add(key)
        self._polling_needed.set()

    def _unwatch(self, key: str) -> None:
        del self._users[key], self._events[key]
        self._polled.discard(key)
        for watch, keys in tuple(self._watches.items()):
            keys.discard(key)
            if not keys:
                del self._watches[watch]
                if self._libc is not None and self._descriptor >= 0:
                    self._libc.inotify_rm_watch(self._descriptor, watch)

    # --- what changes

    async def _listen(self) -> None:
        while True:
            await anyio.wait_readable(self._descriptor)
            try:
                data = os.read(self._descriptor, 65536)
            except BlockingIOError:
                continue
            changed: set[str] = set()
            offset = 0
            while offset < len(data):
                watch, mask, _cookie, length = _HEAD.unpack_from(data, offset)
                offset += _HEAD.size + length
                name = os.fsdecode(data[offset - length : offset].rstrip(b"\0"))
                changed |= {key for key in self._changed(watch, mask) if self._counts(key, name)}
            self._notify(changed)

    def _changed(self, watch: int, mask: int) -> set[str]:
        if mask & _OVERFLOWED:
            log.warning("too many changes at once; every folder is looked at")
            return set(self._users)
        if mask & _IGNORED:
            ended = self._watches.pop(watch, set())
            for key in ended:
                self._poll_instead(key, "it was removed")
            return ended
        return self._watches.get(watch, set())

    def _counts(self, key: str, name: str) -> bool:
        return not name or any(but != name for but in self._users[key])

    async def _poll(self) -> None:
        while True:
            await self._polling_needed.wait()
            await anyio.sleep(POLL_SECONDS)
            polled = set(self._polled)
            # What could not be watched then may be by now.
            self._polled -= {key for key in polled if self._watch(key)}
            if not self._polled:
                self._polling_needed = anyio.Event()
            self._notify(polled)

    def _notify(self, changed: set[str]) -> None:
        for key in changed:
            event, self._events[key] = self._events[key], anyio.Event()
            event.set()


class FolderChange:
    """Waits for changes, none of which is missed between two waits."""

    def __init__(self, folders: FolderWatcher, key: str) -> None:
        self._folders = folders
        self._key = key
        self._next = folders.event(key)

    @property
    def is_due(self) -> bool:
        """Whether something changed since the last wait returned."""
        return self._next.is_set()

    async def wait(self) -> None:
        """Returns when something changed since the last wait returned."""
        await self._next.wait()
        self._next = self._folders.event(self._key)
