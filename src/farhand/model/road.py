"""Named places on the road of a message (kill points): a test can have the node killed at any of them."""

from collections.abc import Callable

PLACES = (
    "door.received",
    "hub.decided",
    "hub.written",
    "door.acknowledged",
    "worker.step",
    "worker.turn_started",
    "worker.before_perform",
    "worker.performed",
    "worker.handed_over",
    "worker.before_record",
    "worker.recorded",
    "follow.folded",
    "follow.put",
    "outbox.before_send",
    "outbox.sent",
    "outbox.marked",
)

_observer: Callable[[str], None] | None = None


def reached(place: str) -> None:
    """Says that the road has come to this place. Costs a comparison when no callback is installed."""
    if _observer is not None:
        _observer(place)


def post(observer: Callable[[str], None] | None) -> None:
    """Installs a callback for every place, or removes it."""
    global _observer
    _observer = observer
