"""Reads the body of a request piece by piece, and stops as soon as it is too large, or all bodies together are."""

from collections import Counter
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager

from farhand.model.errors import TooBusy, TooLarge


class BodyBudget:
    """How many bytes of bodies are held in memory at once: in all, and of one sender. The first ones of each body are
    free, so that nobody keeps small bodies out with large ones."""

    def __init__(self, most: int, most_of_one: int, free: int = 0) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._free = free
        self._held: Counter[str] = Counter()

    @contextmanager
    def holding(self, sender: str = "") -> Iterator[Callable[[int], None]]:
        """For one body, as long as it is held: what is called with the size of each piece raises TooBusy when there
        is no room for it."""
        left, taken = self._free, 0

        def take(size: int) -> None:
            nonlocal left, taken
            counted = max(0, size - left)
            left = max(0, left - size)
            if not counted:
                return
            if self._held[sender] + counted > self._most_of_one or self._held.total() + counted > self._most:
                raise TooBusy("Too much is being sent at once. Send it again later.")
            taken += counted
            self._held[sender] += counted

        try:
            yield take
        finally:
            self._held[sender] -= taken
            if not self._held[sender]:
                del self._held[sender]


async def read_bounded(
    pieces: AsyncIterable[bytes], limit: int, what: str = "A request", take: Callable[[int], None] | None = None
) -> bytes:
    """The whole of it; raises TooLarge, with `what` it is, at the first piece beyond the limit, and what `take` of a
    budget raises."""
    data = bytearray()
    async for piece in pieces:
        if len(data) + len(piece) > limit:
            raise TooLarge(what, limit)
        if take is not None:
            take(len(piece))
        data += piece
    return bytes(data)
