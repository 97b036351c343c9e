"""An event loop over poll(2): handlers for descriptors, and timers; without a timer it has no time-out."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

READ = select.POLLIN
WRITE = select.POLLOUT
BROKEN = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Poll:
    """Descriptors with their handlers, and named timers."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._due: dict[str, tuple[float, Callable[[], None]]] = {}
        self.stopped = False

    def watch(self, descriptor: int, events: int, handler: Callable[[int], None]) -> None:
        """Calls the handler with what happened; hang-ups and errors are reported whatever was asked for."""
        self._poll.register(descriptor, events)
        self._handlers[descriptor] = handler

    def unwatch(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def after(self, name: str, seconds: float, act: Callable[[], None]) -> None:
        """Starts a one-shot timer; of two under the same name the earlier one counts."""
        moment = time.monotonic() + seconds
        if name not in self._due or moment < self._due[name][0]:
            self._due[name] = (moment, act)

    def stop(self) -> None:
        self.stopped = True

    def run(self) -> None:
        while not self.stopped:
            happened = self._poll.poll(self._timeout())
            # Whoever hung up goes first: what it took back is gone before another client can ask for it.
            for descriptor, events in sorted(happened, key=lambda pair: not pair[1] & BROKEN):
                if descriptor in self._handlers:
                    self._handlers[descriptor](events)
            self._act()

    def _timeout(self) -> float | None:
        if not self._due:
            return None
        soonest = min(moment for moment, _ in self._due.values())
        return max(0.0, (soonest - time.monotonic()) * 1000) + 1

    def _act(self) -> None:
        now = time.monotonic()
        for name in [name for name, (moment, _) in self._due.items() if moment <= now]:
            self._due.pop(name)[1]()
