"""Poison messages: one that trips an error of ours again and again is given up; it would block all others."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from farhand.model.channel_ports import Announces
from farhand.model.errors import FarhandError
from farhand.model.logger import get_logger

MOST_FAILURES = 3
GIVEN_UP = "One of your messages tripped an error in farhand and was not obeyed. The log has it."


class PoisonMessages:
    """Counts by a message's id how often it tripped an error that nobody foresaw, and announces the last time."""

    def __init__(self, chat: Announces, channel: str) -> None:
        self._chat = chat
        self._log = get_logger(channel)
        self._failures: Counter[int | str] = Counter()

    @asynccontextmanager
    async def attempt(self, message: int | str) -> AsyncIterator[None]:
        """Within this, a message is obeyed. An error of ours is raised, so that the message comes again, but for the
        last time, after which the message counts as obeyed; an error that has its own sentence is always raised."""
        try:
            yield
        except FarhandError:
            raise
        except Exception as error:
            self._failures[message] += 1
            if self._failures[message] < MOST_FAILURES:
                raise
            self._log.exception("message given up", message=message, error=type(error).__name__)
            await self._chat.announce(GIVEN_UP)
        self._failures.pop(message, None)
