"""What the people at devices look at right now: kept in memory, for as long as their connections are open."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from farhand.model.callbacks import Callbacks
from farhand.model.devices import DeviceId
from farhand.model.names import LONGEST, normalize
from farhand.model.ports import Clock
from farhand.model.stream import DevicePresence, Looking
from farhand.model.words import WorkerName, replace

# A phone that went away without a word looks at nothing after this.
HEARD_SECONDS = 45.0


@dataclass(eq=False)
class _Connection:
    """One connection of a device: what it looks at, and when it said so."""

    device: DeviceId
    name: str
    # Whether the person there may answer, too.
    answers: bool
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
        self, device: DeviceId, name: str = "", *, answers: bool = True
    ) -> Iterator[Callable[[Looking | None], None]]:
        """For as long as a connection is open: what is called with each view that the device tells of."""
        connection = _Connection(device, name, answers)
        self._connections.append(connection)

        def looks(view: Looking | None) -> None:
            # A connection that never told of a view is nobody's presence: however many come, nobody is woken.
            news = view is not None or connection.view is not None
            connection.view, connection.heard_at = _of_a_worker(view), self._clock.now()
            if news:
                self._changed()

        try:
            yield looks
        finally:
            self._connections.remove(connection)
            if connection.view is not None:
                self._changed()

    def tell(self, device: DeviceId, view: Looking) -> None:
        """What a device looks at that cannot say so on its connection."""
        for one in self._connections:
            if one.device == device:
                one.view, one.heard_at = _of_a_worker(view), self._clock.now()
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

    def looking_at(self, worker: WorkerName, *, answers: bool = False) -> frozenset[DeviceId]:
        """The devices on whose screens that worker is right now; or those alone that may answer."""
        since = self._clock.now() - HEARD_SECONDS
        return frozenset(
            one.device
            for one in self._connections
            if one.view is not None and one.view.visible and one.view.worker == worker and one.heard_at >= since
            if one.answers or not answers
        )


def _of_a_worker(view: Looking | None) -> Looking | None:
    """The view; without a name that no worker can have, for every other device is told it."""
    if view is None or (len(view.worker) <= LONGEST and normalize(view.worker) == view.worker):
        return view
    return replace(view, worker="")
