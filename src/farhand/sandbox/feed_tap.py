"""What is written to held children, for whoever watches one right now: nothing of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class FeedTap:
    """Calls those who listen to a child with every piece of input on its way to it."""

    def __init__(self) -> None:
        self._listeners: dict[Path, dict[object, Callable[[bytes], None]]] = {}

    @contextmanager
    def listening(self, path: Path, hear: Callable[[bytes], None]) -> Iterator[None]:
        """Calls it until the context ends; it must not wait."""
        key, everyone = object(), self._listeners.setdefault(path, {})
        everyone[key] = hear
        try:
            yield
        finally:
            del everyone[key]
            if not everyone:
                self._listeners.pop(path, None)

    def tell(self, path: Path, data: bytes) -> None:
        """Somebody writes that to the child of that folder."""
        for hear in list(self._listeners.get(path, {}).values()):
            hear(data)


# Of this process: those who write to a child and those who look at it are built apart from one another.
FEEDS = FeedTap()
