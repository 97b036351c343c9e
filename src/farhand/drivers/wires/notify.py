"""Tells when something in a folder changes: by inotify where there is one, by looking now and then elsewhere."""

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
import anyio.abc

LOOK_EVERY_SECONDS = 0.3
# Written to, closed after writing, moved here, created.
_CHANGES = 0x2 | 0x8 | 0x80 | 0x100
_HEAD = struct.Struct("iIII")


class Folders:
    """One inotify for all folders of a node. A folder that nobody writes to costs nothing."""

    def __init__(self) -> None:
        self._events: dict[str, anyio.Event] = {}
        self._users: dict[str, int] = {}
        self._watches: dict[int, str] = {}
        self._descriptor = -1
        self._libc: ctypes.CDLL | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Folders]:
        """Watches inside this block."""
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen if self._descriptor >= 0 else self._look)
                yield self
                tasks.cancel_scope.cancel()
        finally:
            # Only now: nobody waits for it any more.
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    @contextmanager
    def watched(self, folder: Path) -> Iterator[Change]:
        """Changes in this folder, which must exist."""
        key = str(folder)
        self._events.setdefault(key, anyio.Event())
        self._users[key] = self._users.get(key, 0) + 1
        if self._libc is not None and self._descriptor >= 0:
            watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(key), _CHANGES)
            self._watches[watch] = key
        try:
            yield Change(self, key)
        finally:
            self._users[key] -= 1

    def event(self, key: str) -> anyio.Event:
        """The event that the next change in that folder sets."""
        return self._events[key]

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
                watch, _mask, _cookie, length = _HEAD.unpack_from(data, offset)
                offset += _HEAD.size + length
                if watch in self._watches:
                    changed.add(self._watches[watch])
            self._tell(changed)

    async def _look(self) -> None:
        while True:
            await anyio.sleep(LOOK_EVERY_SECONDS)
            self._tell({key for key, users in self._users.items() if users})

    def _tell(self, changed: set[str]) -> None:
        for key in changed:
            event, self._events[key] = self._events[key], anyio.Event()
            event.set()


class Change:
    """Waits for changes, none of which is missed between two waits."""

    def __init__(self, folders: Folders, key: str) -> None:
        self._folders = folders
        self._key = key
        self._next = folders.event(key)

    async def wait(self) -> None:
        """Returns when something changed since the last wait returned."""
        await self._next.wait()
        self._next = self._folders.event(self._key)
