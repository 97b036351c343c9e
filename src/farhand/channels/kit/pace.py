"""The rate limit of a surface: a token bucket for each chat and one over all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from farhand.channels.kit.surface import no_own_limit
from farhand.model.ports import Clock

_ROUNDING_SECONDS = 1e-9
# Of what a chat takes at once, left by everything that is not urgent.
KEPT_FOR_URGENT = 1


@dataclass
class Bucket:
    """A token bucket: fills at its rate up to its size; every message takes one out."""

    rate: float
    size: float
    level: float = field(default=-1.0)
    at: float = 0.0

    def fill(self, now: float) -> float:
        # A clock that was set back has measured nothing.
        passed = max(0.0, now - self.at)
        self.level = self.size if self.level < 0 else min(self.size, self.level + passed * self.rate)
        self.at = now
        return self.level

    def wait(self, now: float, leave: int = 0) -> float:
        """Seconds until there is one to take and so many are left."""
        return max(0.0, (1.0 + leave - self.fill(now)) / self.rate)


class Pace:
    """The limits of a surface. Messages leave one for what is urgent; progress takes only what messages can spare."""

    def __init__(
        self,
        clock: Clock,
        *,
        per_chat: float,
        burst: int,
        overall: float,
        own_limit: Callable[[str], float | None] = no_own_limit,
    ) -> None:
        self._clock = clock
        self._own_limit = own_limit
        self._per_chat = per_chat
        self._burst = burst
        self._overall = Bucket(overall, max(1.0, overall))
        self._chats: dict[str, Bucket] = {}

    async def ready(self, chat: str, *, urgent: bool = False) -> None:
        """Returns when a message to this chat may go, and counts it. An urgent one finds one in hand, or is next."""
        while True:
            now, bucket = self._clock.now(), self._chat(chat)
            wait = max(bucket.wait(now, 0 if urgent else KEPT_FOR_URGENT), self._overall.wait(now))
            if wait <= _ROUNDING_SECONDS:
                bucket.level -= 1
                self._overall.level -= 1
                return
            await self._clock.sleep(wait)

    def can_spare(self) -> bool:
        """Whether an edit may go without making a message wait, in any chat that was written to."""
        now = self._clock.now()
        return all(bucket.fill(now) >= 2 for bucket in (*self._chats.values(), self._overall))

    def until_spare(self, chat: str, owed: int) -> float:
        """Seconds until progress may go to this chat and leave one for each answer that is owed; 0: it may go now.

        However many are owed, a full bucket has one for progress."""
        now, bucket = self._clock.now(), self._chat(chat)
        wanted = 1 + min(owed, bucket.size - 1)
        waits = (wanted - bucket.fill(now)) / bucket.rate, (2 - self._overall.fill(now)) / self._overall.rate
        return max(waits) if max(waits) > _ROUNDING_SECONDS else 0.0

    def _chat(self, chat: str) -> Bucket:
        own = self._own_limit(chat)
        rate = self._per_chat if own is None else min(self._per_chat, own)
        return self._chats.setdefault(chat, Bucket(rate, max(self._burst, 1.0 + KEPT_FOR_URGENT)))
