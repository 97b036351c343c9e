"""The single input queue of a tmux link: all that reaches it, in order of arrival, consumed by the link's `facts`."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import anyio
import anyio.abc
import msgspec

from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.hooks.endpoint import HookArrival
from farhand.drivers.wires.tmux.errors import TmuxGone
from farhand.drivers.wires.tmux.server import Death
from farhand.model.facts import Fact


class FileChanged(msgspec.Struct, frozen=True):
    """Something may have been added to the agent's own file."""


class SpoolChanged(msgspec.Struct, frozen=True):
    """A hook may have left a report in the spool."""


class LateFacts(msgspec.Struct, frozen=True):
    """Facts that neither a hook nor the agent's own file brought."""

    facts: tuple[Fact, ...]


class Timeout(msgspec.Struct, frozen=True):
    """The time is over in which something should have had a consequence; `turn` is the CLI's own name for its turn."""

    what: str
    turn: str = ""
    payload: bytes = b""
    tries: int = 0

    def again(self) -> Timeout:
        """The same, tried once more."""
        return Timeout(self.what, self.turn, self.payload, self.tries + 1)


QueuedItem: TypeAlias = FileChanged | SpoolChanged | LateFacts | Timeout | HookArrival | Death | TmuxGone
# What else reaches a link, of one CLI alone.
QueuedEvent = TypeVar("QueuedEvent")


class InputQueue(Generic[QueuedEvent]):
    """Unbounded. Whoever fills it runs in its task group, and ends with it."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[QueuedItem | QueuedEvent](math.inf)
        self._file_pending = False
        self._tasks: anyio.abc.TaskGroup | None = None
        self._folders: FolderWatcher | None = None

    @asynccontextmanager
    async def opened(self, folders: FolderWatcher) -> AsyncIterator[None]:
        """Sources may be started while it is open; afterwards nobody listens any more."""
        with self._send, self._receive:
            async with anyio.create_task_group() as tasks:
                self._tasks, self._folders = tasks, folders
                yield
                tasks.cancel_scope.cancel()

    def close(self) -> None:
        """Of a queue that was never opened."""
        self._send.close()
        self._receive.close()

    def put(self, item: QueuedItem | QueuedEvent) -> None:
        """Appends it."""
        self._send.send_nowait(item)

    def put_file_changed(self) -> None:
        """Appends that the agent's own file changed, unless that is in the queue already."""
        if not self._file_pending:
            self._file_pending = True
            self.put(FileChanged())

    def file_read(self) -> None:
        """The agent's own file is read now: a later change is news again."""
        self._file_pending = False

    def items(self) -> AsyncIterator[QueuedItem | QueuedEvent]:
        """Takes what is in the queue, and waits for more."""
        return self._receive

    def start(self, task: Callable[[], Coroutine[object, object, None]]) -> None:
        """Runs a task as long as the queue is open."""
        if self._tasks is not None:
            self._tasks.start_soon(task)

    def after(self, seconds: float, timeout: Timeout) -> None:
        """Appends the time-out when that time has passed."""

        async def wait() -> None:
            await anyio.sleep(seconds)
            self.put(timeout)

        self.start(wait)

    def watch(self, folder: Path, changed: Callable[[], None]) -> anyio.CancelScope:
        """Calls `changed` now and whenever something in the folder changes, until the scope is cancelled."""
        # Made here: it may be cancelled before its task has run.
        scope, folders = anyio.CancelScope(), self._folders
        if folders is None:
            return scope
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

        async def follow() -> None:
            with scope, folders.watched(folder) as change:
                while True:
                    changed()
                    await change.wait()

        self.start(follow)
        return scope
