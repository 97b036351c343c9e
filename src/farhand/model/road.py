"""The road of a message has named places; a test may stand at one of them and kill the node there."""

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

_watchman: Callable[[str], None] | None = None


def reached(place: str) -> None:
    """Says that the road has come to this place. Costs a comparison when nobody listens."""
    if _watchman is not None:
        _watchman(place)


def post(watchman: Callable[[str], None] | None) -> None:
    """Puts a watchman on the road, or takes him off."""
    global _watchman
    _watchman = watchman
