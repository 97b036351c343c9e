"""The rate limit of a project's outbox, a token bucket: whoever can write the file cannot fill every chat."""

# More than the hooks ever leave there at once, and then one a second.
AT_ONCE = 200
EACH_SECONDS = 1.0


class OutboxPace:
    """Counts what was taken; there is room for so many at once, which comes back with time."""

    def __init__(self, now: float) -> None:
        self._room = float(AT_ONCE)
        self._at = now

    def room(self, now: float) -> int:
        """How many may be taken now."""
        self._room = min(float(AT_ONCE), self._room + (now - self._at) / EACH_SECONDS)
        self._at = now
        return int(self._room)

    def took(self, count: int) -> None:
        """So many were taken."""
        self._room -= count
