"""Small jobs of a chat that nobody waits for, and that end with it."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVarTuple

import anyio
import anyio.abc

Arguments = TypeVarTuple("Arguments")


class BackgroundJobs:
    """Starts jobs while it is open; before and after that it drops them."""

    def __init__(self) -> None:
        self._tasks: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Jobs can be started as long as the block runs."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def start(
        self, name: str, job: Callable[[*Arguments], Coroutine[Any, Any, object]], *arguments: *Arguments
    ) -> None:
        """Runs the job, if this is open."""
        if self._tasks is not None:
            self._tasks.start_soon(job, *arguments, name=name)
