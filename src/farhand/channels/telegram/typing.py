"""Shows that somebody is typing while a worker is at work, and calls nobody when none is."""

from collections.abc import Callable

import anyio
import structlog
from telegram.error import TelegramError

from farhand.channels.kit.follow import TurnViews
from farhand.channels.telegram.gateway import Gateway
from farhand.model.ports import Clock

log = structlog.get_logger("telegram")
# Telegram shows it for five seconds.
AGAIN_SECONDS = 4.0


class TypingIndicator:
    """One task; woken by a turn that begins."""

    def __init__(self, gateway: Gateway, turns: TurnViews, clock: Clock, chat: Callable[[], int | None]) -> None:
        self._gateway = gateway
        self._turns = turns
        self._clock = clock
        self._chat = chat
        self._began = anyio.Event()

    def wake(self) -> None:
        """A turn began."""
        self._began.set()

    async def run(self) -> None:
        """Shows it until it is cancelled."""
        while True:
            await self._began.wait()
            # One that waits for a person is not at work.
            if not any(not turn.open_asks for turn in self._turns.running()):
                self._began = anyio.Event()
                continue
            chat = self._chat()
            try:
                if chat is not None:
                    await self._gateway.bot.send_chat_action(chat, "typing")
            except TelegramError as error:
                log.info("typing not shown", error=self._gateway.redacted(error))
            await self._clock.sleep(AGAIN_SECONDS)
