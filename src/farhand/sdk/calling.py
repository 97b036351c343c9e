"""Calls foreign functions, sync or async, within a time and without letting anything they raise escape."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

LATE = "the time for this call is over"


async def call_within(
    function: Callable[..., Any], values: Mapping[str, Any], timeout_seconds: float | None
) -> tuple[Any, BaseException | None]:
    """Calls a sync function in a thread, an async one on the loop. Returns what it returned, or what it raised."""
    import anyio
    import anyio.to_thread

    def in_thread() -> tuple[Any, BaseException | None]:
        # Caught here, because a StopIteration or SystemExit must not travel through the event loop.
        try:
            return function(**values), None
        except BaseException as error:  # noqa: BLE001
            return None, error

    with anyio.move_on_after(timeout_seconds):
        if not is_async(function):
            value, raised = await anyio.to_thread.run_sync(in_thread, abandon_on_cancel=True)
            if raised is not None or not isinstance(value, Awaitable):
                return value, raised
            return await _awaited(value)
        return await _awaited(function(**values))
    return None, TimeoutError(LATE)


async def _awaited(value: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    try:
        return await value, None
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return None, error


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it makes a coroutine; looks through callable objects."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
