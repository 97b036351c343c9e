"""A road between two ends on the loopback that a test can cut and mend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc

BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class CuttableProxy:
    """Passes on what comes to its port, to the port behind it."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._whole = True
        self._open: set[anyio.CancelScope] = set()
        self._refused = 0
        self._news = anyio.Event()
        self.port = 0

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[CuttableProxy]:
        """The road, while it is there."""
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
            anyio.create_task_group() as tasks,
        ):
            self.port = listener.extra(anyio.abc.SocketAttribute.local_port)
            tasks.start_soon(listener.serve, self._serve)
            yield self
            tasks.cancel_scope.cancel()

    def cut(self) -> None:
        """Everybody on the road is thrown off it, and nobody gets on."""
        self._whole = False
        for scope in tuple(self._open):
            scope.cancel()

    def mend(self) -> None:
        """The road is as it was."""
        self._whole = True

    async def refuses(self, times: int = 1) -> None:
        """Waits until so many more have come to the cut road in vain."""
        wanted = self._refused + times
        while self._refused < wanted:
            await self._news.wait()

    async def _serve(self, near: anyio.abc.SocketStream) -> None:
        async with near:
            if not self._whole:
                self._refused += 1
                self._news.set()
                self._news = anyio.Event()
                return
            try:
                far = await anyio.connect_tcp("127.0.0.1", self._target)
            except OSError:
                # Nobody is at the other end.
                return
            async with far:
                await self._pass_on(near, far)

    async def _pass_on(self, near: anyio.abc.SocketStream, far: anyio.abc.SocketStream) -> None:
        async with anyio.create_task_group() as tasks:
            self._open.add(tasks.cancel_scope)
            try:
                tasks.start_soon(_pump, far, near, tasks.cancel_scope)
                await _pump(near, far, tasks.cancel_scope)
            finally:
                self._open.discard(tasks.cancel_scope)


async def _pump(source: anyio.abc.SocketStream, sink: anyio.abc.SocketStream, both: anyio.CancelScope) -> None:
    """Passes on until one end is closed; then both are."""
    try:
        while True:
            await sink.send(await source.receive())
    except BROKEN:
        both.cancel()
