"""Calls foreign functions, sync or async, within a time and without letting anything they raise escape."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

LATE = "the time for this call is over"


async def call_within(
    function: Callable[..., Any], values: Mapping[str, Any], timeout_seconds: float | None
) -> tuple[Any, BaseException | None]:
    """Calls a sync function in a thread, an async one on the loop. Returns what it returned, or what it raised."""
    import anyio

    with anyio.move_on_after(timeout_seconds):
        if is_async(function):
            return await _awaited(function(**values))
        value, raised = await _in_thread(functools.partial(function, **values))
        if raised is not None or not inspect.isawaitable(value):
            return value, raised
        return await _awaited(value)
    return None, TimeoutError(LATE)


async def _in_thread(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Runs a function in a thread of its own, which neither the loop nor the end of the program waits for."""
    import asyncio

    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: tuple[Any, BaseException | None]) -> None:
        if not ended.done():
            ended.set_result(result)

    def work() -> None:
        # Caught here, because a StopIteration or SystemExit must not travel through the event loop.
        try:
            result: tuple[Any, BaseException | None] = (context.run(function), None)
        except BaseException as error:  # noqa: BLE001
            result = (None, error)
        # A loop that is closed has nobody left who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=work, name=f"calls {getattr(function, '__name__', 'a function')}", daemon=True).start()
    return await ended


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
