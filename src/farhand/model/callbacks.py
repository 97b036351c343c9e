"""Callbacks for as long as somebody wants them: whoever has news calls them all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Callbacks:
    """Functions that are called with every change. They must not wait; each is cheaper than a waiter of its own."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[[], None]] = {}

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Calls it with every change until the context ends."""
        key = object()
        self._callbacks[key] = callback
        try:
            yield
        finally:
            del self._callbacks[key]

    def call(self) -> None:
        """Calls each of them, the oldest first."""
        for callback in self._callbacks.values():
            callback()
