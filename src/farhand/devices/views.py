"""What the people at devices look at right now: kept in memory, for as long as their connections are open."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from farhand.model.callbacks import Callbacks
from farhand.model.devices import DeviceId
from farhand.model.ports import Clock
from farhand.model.stream import DevicePresence, Looking
from farhand.model.words import WorkerName

# A phone that went away without a word looks at nothing after this.
HEARD_SECONDS = 45.0


@dataclass(eq=False)
class _Connection:
    """One connection of a device: what it looks at, and when it said so."""

    device: DeviceId
    name: str
    read_only: bool
    view: Looking | None = None
    heard_at: float = 0.0


class DeviceViews:
    """Knows which devices look at which worker."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._connections: list[_Connection] = []
        self._callbacks = Callbacks()
        # Another number whenever somebody has looked at something else.
        self.version = 0

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` whenever somebody looks at something else."""
        return self._callbacks.calling(wake)

    def _changed(self) -> None:
        self.version += 1
        self._callbacks.call()

    @contextmanager
    def connected(
        self, device: DeviceId, name: str = "", *, read_only: bool = False
    ) -> Iterator[Callable[[Looking | None], None]]:
        """For as long as a connection is open: what is called with each view that the device tells of."""
        connection = _Connection(device, name, read_only)
        self._connections.append(connection)

        def looks(view: Looking | None) -> None:
            connection.view, connection.heard_at = view, self._clock.now()
            self._changed()

        try:
            yield looks
        finally:
            self._connections.remove(connection)
            self._changed()

    def tell(self, device: DeviceId, view: Looking) -> None:
        """What a device looks at that cannot say so on its connection."""
        for one in self._connections:
            if one.device == device:
                one.view, one.heard_at = view, self._clock.now()
        self._changed()

    def others(self, device: DeviceId) -> tuple[DevicePresence, ...]:
        """The other devices whose people are there right now; whoever has the node's key is no device."""
        since = self._clock.now() - HEARD_SECONDS
        there = {
            (one.device, one.name, one.view.worker)
            for one in self._connections
            if one.device not in ("", device) and one.view is not None and one.view.visible and one.heard_at >= since
        }
        return tuple(DevicePresence(device=key, name=name, worker=worker) for key, name, worker in sorted(there))

    def looking_at(self, worker: WorkerName) -> frozenset[DeviceId]:
        """The devices on whose screens that worker is right now."""
        return frozenset(one.device for one in self._connections if self._shows(one, worker))

    def is_before_manager(self, worker: WorkerName) -> bool:
        """Whether one of them may do more than look: whoever may not is not the manager."""
        return any(self._shows(one, worker) and not one.read_only for one in self._connections)

    def _shows(self, one: _Connection, worker: WorkerName) -> bool:
        is_fresh = one.heard_at >= self._clock.now() - HEARD_SECONDS
        return one.view is not None and one.view.visible and one.view.worker == worker and is_fresh
