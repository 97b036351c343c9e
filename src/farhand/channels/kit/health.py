"""Whether a chat can be heard: one line when it cannot, announced once for each reason, and again when it can."""

import time
from typing import Protocol

import structlog

from farhand.model.ports import Clock

log = structlog.get_logger("chat")

# A network that comes back within this time is no news.
PATIENCE_SECONDS = 60.0
AT_ONCE = frozenset({"token", "webhook", "stolen"})


class TakesNews(Protocol):
    """Tells the manager something about the node itself."""

    async def announce(self, text: str) -> None:
        """Over every channel that can."""
        ...


class ChatHealth:
    """How the channel stands, for `status` and for the manager's other surfaces."""

    def __init__(self, title: str, clock: Clock, news: TakesNews) -> None:
        self._title = title
        self._clock = clock
        self._news = news
        self.mode = "starting"
        # The account that we are on the surface.
        self.account = ""
        self.problem = ""
        self.why = ""
        self.since: float | None = None
        self.received_at: float | None = None
        self._announced = ""
        self._count = 0

    async def report_working(self) -> None:
        """The surface answered as it should."""
        self.received_at = self._clock.now()
        self.problem, self.why, self.since, self._count = "", "", None, 0
        if self._announced:
            self._announced = ""
            log.info("chat works again", chat=self._title)
            await self._news.announce(f"{self._title} works again.")

    async def report_problem(self, sentence: str, why: str) -> None:
        """Something keeps us from hearing; announced once for each reason, and only if it lasts where it may pass."""
        now = self._clock.now()
        self._count = self._count + 1 if why == self.why else 1
        self.since = now if self.since is None else self.since
        self.problem, self.why = sentence, why
        lasting = now - self.since >= PATIENCE_SECONDS or (why == "conflict" and self._count >= 2)
        if self._announced != why and (why in AT_ONCE or lasting):
            self._announced = why
            log.warning("chat cannot be heard", chat=self._title, why=why, problem=sentence)
            await self._news.announce(sentence if sentence.startswith(self._title) else f"{self._title}: {sentence}")

    def line(self) -> str:
        """The line for `status`."""
        name = f"{self.mode}{f' as {self.account}' if self.account else ''}"
        if not self.problem:
            return name
        since = time.strftime("%H:%M:%S", time.localtime(self.since or 0))
        return f"{name}, deaf since {since}: {self.problem}"
