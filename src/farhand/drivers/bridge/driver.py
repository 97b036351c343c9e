"""Binds an agent that somebody started by hand as a worker: through two files and the hooks of its CLI."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from farhand.disk.watch import FolderWatcher
from farhand.drivers.bridge.link import BridgeLink
from farhand.drivers.bridge.pane import PaneWaker
from farhand.drivers.bridge.state import BridgeCursor
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.model import bridge
from farhand.model.bridge import OpensBridges
from farhand.model.compat import FILE_BRIDGE_FOLDER, FILE_BRIDGE_LOCK
from farhand.model.ports import Can, Driver
from farhand.model.present import Worker


class BridgeDriver:
    """Starts nothing and ends nothing: the agent is the person's own."""

    backend = bridge.BACKEND
    wire = "headless"

    def __init__(self, opens: OpensBridges, hooks: tuple[BridgeHooks, ...] = ()) -> None:
        self._opens = opens
        self._hooks = hooks

    @property
    def can(self) -> Can:
        """It takes files by their paths, and a message put twice is there once."""
        return Can(interrupt=True, files=True, images=True, ids=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[BridgeLink]:
        """Goes on after the cursor."""
        project = Path(worker.directory)
        folder = project / FILE_BRIDGE_FOLDER
        files = self._opens(project)
        await anyio.to_thread.run_sync(files.attach)
        real = Path(await anyio.to_thread.run_sync(os.path.realpath, project))
        async with FolderWatcher().opened() as watcher:
            with watcher.watched(folder, but=FILE_BRIDGE_LOCK) as changed:
                yield BridgeLink(
                    files, worker, read_cursor(cursor, BridgeCursor), changed, PaneWaker(real, self._hooks)
                )

    async def end(self, worker: Worker) -> None:
        """The agent goes on at its desk; its files stay."""


def build(context: DriverContext) -> list[Driver]:
    """The bridge, where the node can open one."""
    return [BridgeDriver(context.bridges, context.bridge_hooks)] if context.bridges is not None else []
