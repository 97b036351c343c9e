"""The rate limit of a worker's programs, whose answers and notices could fill the disk and the chat."""

from collections import deque

from farhand.model.ports import Clock

# What comes too soon may come again.
MOST_IN_A_MINUTE = 60


class AnswerPace:
    """Counts them by worker, whichever way they come."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sent: dict[str, deque[float]] = {}

    def is_full(self, worker: str) -> bool:
        """Whether one more would be too many now."""
        sent = self._sent.get(worker)
        return sent is not None and len(sent) == MOST_IN_A_MINUTE and self._clock.now() - sent[0] < 60.0

    def take(self, worker: str) -> bool:
        """Counts one more; False when it is one too many."""
        if self.is_full(worker):
            return False
        self._sent.setdefault(worker, deque(maxlen=MOST_IN_A_MINUTE)).append(self._clock.now())
        return True
