"""What the people at devices look at right now: kept in memory, for as long as their connections are open."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from farhand.model.devices import DeviceId
from farhand.model.ports import Clock
from farhand.model.stream import Looking
from farhand.model.words import WorkerName

# A phone that went away without a word looks at nothing after this.
HEARD_SECONDS = 45.0


@dataclass(eq=False)
class _Connection:
    """One connection of a device: what it looks at, and when it said so."""

    device: DeviceId
    view: Looking | None = None
    heard_at: float = 0.0


class DeviceViews:
    """Knows which devices look at which worker."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._connections: list[_Connection] = []

    @contextmanager
    def connected(self, device: DeviceId) -> Iterator[Callable[[Looking | None], None]]:
        """For as long as a connection is open: what is called with each view that the device tells of."""
        connection = _Connection(device)
        self._connections.append(connection)

        def looks(view: Looking | None) -> None:
            connection.view, connection.heard_at = view, self._clock.now()

        try:
            yield looks
        finally:
            self._connections.remove(connection)

    def tell(self, device: DeviceId, view: Looking) -> None:
        """What a device looks at that cannot say so on its connection."""
        for one in self._connections:
            if one.device == device:
                one.view, one.heard_at = view, self._clock.now()

    def looking_at(self, worker: WorkerName) -> frozenset[DeviceId]:
        """The devices on whose screens that worker is right now."""
        since = self._clock.now() - HEARD_SECONDS
        return frozenset(
            one.device
            for one in self._connections
            if one.view is not None and one.view.visible and one.view.worker == worker and one.heard_at >= since
        )
