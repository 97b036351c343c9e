"""Keeps Telegram's menu of commands as the team is, and learns the bot's own name on the way."""

from collections.abc import Callable

from telegram import BotCommand, MenuButtonWebApp, WebAppInfo
from telegram.error import TelegramError

from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.who_may_speak import WhoMaySpeak, way_in
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.replies import menu
from farhand.channels.telegram.state_files import TelegramStored
from farhand.channels.telegram.when_changed import WhenChanged
from farhand.model.facts import Ended, Event, Hired
from farhand.model.logger import get_logger
from farhand.model.ports import Clock, Hub
from farhand.model.view import TurnView

log = get_logger("telegram")
FIRST_PAUSE_SECONDS = 0.5
APP_BUTTON = "Team"


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
        show: Callable[[str], None],
        app_url: Callable[[], str] = lambda: "",
    ) -> None:
        self._gateway = gateway
        self._hub = hub
        self._stored = stored
        self._health = health
        self._members = members
        # Shows something at the node's terminal.
        self._show = show
        # Where the phone app can be opened from Telegram; empty where it cannot.
        self._app_url = app_url
        self._shown_without_link = False
        self._team = WhenChanged(clock, FIRST_PAUSE_SECONDS)

    def see(self, event: Event, _: TurnView | None) -> None:
        """Wakes up when the team changes."""
        if isinstance(event.fact, Hired | Ended):
            self._team.wake()

    def wake(self) -> None:
        """The app has another address."""
        self._team.wake()

    async def run(self) -> None:
        """Sets the menu whenever the team changed; a failure is retried with growing pauses."""
        await self._team.run(self._set, self._not_set)

    def _not_set(self, error: TelegramError) -> None:
        log.info("menu not set", error=self._gateway.redacted(error))
        self._show_without_link()

    async def _set(self) -> None:
        me = await self._gateway.bot.get_me()
        self._stored.keep_bot(me.id, me.username or "")
        if self._health.account != f"@{me.username}":
            self._health.account = f"@{me.username}"
            self._show_way_in(f"https://t.me/{me.username}")
        entries = menu(await self._hub.look())
        await self._gateway.bot.set_my_commands([BotCommand(name, text) for name, text in entries])
        await self._set_button()

    async def _set_button(self) -> None:
        """The button beside the manager's input field opens the phone app, where it can be reached."""
        url, chat = self._app_url(), self._members.chat
        if url and chat and not chat.startswith("-"):
            button = MenuButtonWebApp(APP_BUTTON, WebAppInfo(url))
            await self._gateway.bot.set_chat_menu_button(int(chat), button)

    def _show_way_in(self, link: str) -> None:
        """How to become the manager, while nobody is."""
        if self._members.wants_code:
            self._members.show_code(f"{link}?start=")
        elif not self._members.chat:
            self._show(way_in(link))

    def _show_without_link(self) -> None:
        """The code alone, once, while nobody knows what the bot is called."""
        if not self._shown_without_link and not self._health.account:
            self._shown_without_link = True
            self._members.show_code()
