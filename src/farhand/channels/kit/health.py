"""Whether a chat can be heard: one line when it cannot, announced once for each reason, and again when it can."""

import time
from typing import Protocol

from farhand.model.channel_ports import ReceiveStatus
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

log = get_logger("chat")

# A network that comes back within this time is no news.
PATIENCE_SECONDS = 60.0
AT_ONCE = frozenset({"token", "webhook", "stolen"})
# What keeps us from hearing and not from speaking: the manager is told in the very chat that we do not hear.
DEAF_NOT_DUMB = frozenset({"webhook", "stolen", "conflict", "undelivered", "refused", "stuck"})


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

    async def report_problem(self, sentence: str, why: str, since: float | None = None) -> None:
        """Something keeps us from hearing, and has since then; announced once for each reason, and only if it lasts
        where it may pass."""
        self._count = self._count + 1 if why == self.why else 1
        began = self._clock.now() if since is None else since
        self.since = began if self.since is None else min(self.since, began)
        self.problem, self.why = sentence, why
        await self.tell_if_lasting()

    async def tell_if_lasting(self) -> None:
        """Announces the problem that there is, if it has not been and does not pass."""
        if not self.problem or self.since is None or self._announced == self.why:
            return
        lasting = self._clock.now() - self.since >= PATIENCE_SECONDS or (self.why == "conflict" and self._count >= 2)
        if self.why in AT_ONCE or lasting:
            self._announced = self.why
            log.warning("chat cannot be heard", chat=self._title, why=self.why, problem=self.problem)
            is_named = self.problem.startswith(self._title)
            await self._news.announce(self.problem if is_named else f"{self._title}: {self.problem}")

    @property
    def can_speak(self) -> bool:
        """Whether what we send arrives, as far as we know."""
        return not self.problem or self.why in DEAF_NOT_DUMB

    def receive_status(self) -> ReceiveStatus:
        """For programs: when we heard last, and since when we do not."""
        return ReceiveStatus(
            mode=self.mode,
            account=self.account,
            heard_at=self.received_at,
            deaf_since=self.since if self.problem else None,
            problem=self.problem,
        )

    def line(self) -> str:
        """The line for `status`."""
        name = f"{self.mode}{f' as {self.account}' if self.account else ''}"
        if not self.problem:
            return name
        since = time.strftime("%H:%M:%S", time.localtime(self.since or 0))
        return f"{name}, deaf since {since}: {self.problem}"
