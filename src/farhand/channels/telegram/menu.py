"""Keeps Telegram's menu of commands as the team is, and learns the bot's own name on the way."""

import anyio
import structlog
from telegram import BotCommand
from telegram.error import TelegramError

from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.who_may_speak import WhoMaySpeak
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.replies import menu
from farhand.channels.telegram.stored import TelegramStored
from farhand.model.facts import Ended, Event, Hired
from farhand.model.ports import Clock, Hub
from farhand.model.view import TurnView

log = structlog.get_logger("telegram")
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 300.0


class TelegramMenu:
    """One task; woken when somebody is hired or let go."""

    def __init__(
        self,
        gateway: Gateway,
        hub: Hub,
        clock: Clock,
        stored: TelegramStored,
        health: ChatHealth,
        members: WhoMaySpeak,
    ) -> None:
        self._gateway = gateway
        self._hub = hub
        self._clock = clock
        self._stored = stored
        self._health = health
        self._members = members
        self._changed = anyio.Event()
        self._changed.set()

    def see(self, event: Event, _: TurnView | None) -> None:
        """Wakes up when the team changes."""
        if isinstance(event.fact, Hired | Ended):
            self._changed.set()

    async def run(self) -> None:
        """Sets the menu whenever the team changed; a failure is retried with growing pauses."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await self._set()
                pause = FIRST_PAUSE_SECONDS
            except TelegramError as error:
                log.info("menu not set", error=self._gateway.redacted(error))
                self._changed.set()
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _set(self) -> None:
        me = await self._gateway.bot.get_me()
        self._stored.keep_bot(me.id, me.username or "")
        if self._health.account != f"@{me.username}":
            self._health.account = f"@{me.username}"
            self._members.show_code(f"https://t.me/{me.username}?start=" if me.username else "")
        entries = menu(await self._hub.look())
        await self._gateway.bot.set_my_commands([BotCommand(name, text) for name, text in entries])
