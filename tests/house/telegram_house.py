"""A house whose manager is on Telegram: the node in this process, the fake Telegram in its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext, Peers
from farhand.model.ports import Deliver, Driver, Hub
from farhand.model.store_ports import Outbox
from farhand.model.voice import Transcriber
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, Person
from farhand.testing.telegram.bell import Bell

MANAGER = 4242


class TelegramHouse:
    """The house, the bot as Telegram sees it, and the manager."""

    def __init__(self, house: House, bot: FakeBot, told: list[str], shown: list[str], news: Bell) -> None:
        self.house = house
        self.bot = bot
        self.agent = house.agent
        self.manager: Person = bot.person(MANAGER, "Mo")
        # What the node said over its other channels.
        self.told = told
        # What it showed at the node's terminal.
        self.shown = shown
        self.news = news

    @property
    def health(self) -> str:
        return str(self.house.node.status()["channels"]["telegram"])


def told(telegram: TelegramHouse) -> list[str]:
    """What the agents were given."""
    return [errand.message.text for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]


class OverheardPeers:
    """The node's channels for one of them; what it announces is noted and goes nowhere."""

    def __init__(self, peers: Peers, told: list[str], shown: list[str], news: Bell) -> None:
        self._told = told
        self.show_at_terminal = shown.append
        self._news = news
        self.manager_chat = peers.manager_chat
        self.manager_chat_changed = peers.manager_chat_changed
        self.notify = peers.notify
        self.inbox = peers.inbox

    async def announce(self, text: str, but: str = "") -> None:
        self._told.append(text)
        self._news.ring()


def telegram_settings(bot: FakeBot, **options: Any) -> TelegramSettings:
    """The settings of that bot; the rates among the options are put where they belong."""
    names = {one.name for one in fields(RateLimits)}
    limits = RateLimits(**{name: value for name, value in options.items() if name in names})
    others = {name: value for name, value in options.items() if name not in names}
    return TelegramSettings(token=bot.token, api_url=bot.address, limits=limits, **others)


@asynccontextmanager
async def telegram_house(
    folder: Path,
    bot: FakeBot,
    *,
    agent: ScriptedDriver | None = None,
    drivers: Mapping[str, Driver] | None = None,
    public: bool = False,
    url: str = "",
    hub: Callable[[Hub], Any] = lambda hub: hub,
    outbox: Callable[[Outbox], Any] = lambda outbox: outbox,
    voice: Transcriber | None = None,
    peers: Callable[[Peers], Peers] | None = None,
    **options: Any,
) -> AsyncIterator[TelegramHouse]:
    """A house on Telegram; opened again in the same folder, it is the same node after a restart."""
    told: list[str] = []
    shown: list[str] = []
    news = Bell()

    def channels(context: ChannelContext) -> list[Channel]:
        given = replace(
            context,
            public_url=f"http://127.0.0.1:{context.port}" if public else url,
            hub=hub(context.hub),
            outbox=outbox(context.outbox),
            peers=peers(context.peers) if peers else OverheardPeers(context.peers, told, shown, news),
            voice=voice,
        )
        quick = {"chat_burst": 50, "poll_seconds": 1}
        return [TelegramChannel(telegram_settings(bot, **{**quick, **options}), given)]

    async with open_house(folder, agent, SystemClock(), channels, drivers) as house:
        yield TelegramHouse(house, bot, told, shown, news)
