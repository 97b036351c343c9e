"""Whether Telegram hears us: one line when it does not, told once, and again when it does."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog

from farhand.model.ports import Clock

log = structlog.get_logger("telegram")

Tell: TypeAlias = Callable[[str], Awaitable[None]]
# A network that comes back within this time is no news.
PATIENCE_SECONDS = 60.0
AT_ONCE = frozenset({"token", "webhook", "stolen"})


async def keep_quiet(_: str) -> None:
    """Nobody else to tell."""


class Health:
    """How the channel stands, for `status` and for the manager's other surfaces."""

    def __init__(self, clock: Clock, tell: Tell = keep_quiet) -> None:
        self._clock = clock
        self._tell = tell
        self.mode = "starting"
        self.bot = ""
        self.problem = ""
        self.why = ""
        self.since: float | None = None
        self.heard_at: float | None = None
        self._told = ""
        self._count = 0

    async def well(self) -> None:
        """Telegram answered as it should."""
        self.heard_at = self._clock.now()
        self.problem, self.why, self.since, self._count = "", "", None, 0
        if self._told:
            self._told = ""
            log.info("telegram hears us again")
            await self._tell("Telegram works again.")

    async def ill(self, sentence: str, why: str) -> None:
        """Something keeps us from hearing; told once for each reason, and only if it lasts where it may pass."""
        now = self._clock.now()
        self._count = self._count + 1 if why == self.why else 1
        self.since = now if self.since is None else self.since
        self.problem, self.why = sentence, why
        lasting = now - self.since >= PATIENCE_SECONDS or (why == "conflict" and self._count >= 2)
        if self._told != why and (why in AT_ONCE or lasting):
            self._told = why
            log.warning("telegram is deaf", why=why, problem=sentence)
            await self._tell(sentence if sentence.startswith("Telegram") else f"Telegram: {sentence}")

    def line(self) -> str:
        """The line for `status`."""
        name = f"{self.mode}{f' as {self.bot}' if self.bot else ''}"
        if not self.problem:
            return name
        since = time.strftime("%H:%M:%S", time.localtime(self.since or 0))
        return f"{name}, deaf since {since}: {self.problem}"
