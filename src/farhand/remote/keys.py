"""Idempotency keys: what was said under which key, so that a repeated request says nothing twice."""

from __future__ import annotations

from farhand.model.errors import IdTaken

MOST_KEYS = 10_000


class KnownKeys:
    """The last keys, each with the words that it was used for and the message that they became."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, int]] = {}

    def find(self, key: str, text: str) -> int | None:
        """The message that was said under the key; None for a new key. Raises IdTaken for other words under it."""
        if not key or key not in self._known:
            return None
        words, message = self._known[key]
        if words != text:
            raise IdTaken(key)
        return message

    def add(self, key: str, text: str, message: int) -> None:
        """From now on the key stands for that message."""
        if key:
            self._known[key] = (text, message)
            while len(self._known) > MOST_KEYS:
                del self._known[next(iter(self._known))]
