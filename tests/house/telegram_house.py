"""A house whose manager is on Telegram: the node in this process, the fake Telegram in its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from farhand.app import Parts
from farhand.channels.telegram.channel import TelegramChannel, TelegramOptions
from farhand.core.clock import SystemClock
from farhand.model.ports import Hub, Outbox
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, Person
from farhand.testing.telegram.bell import Bell

MANAGER = 4242


class TelegramHouse:
    """The house, the bot as Telegram sees it, and the manager."""

    def __init__(self, house: House, bot: FakeBot, told: list[str], news: Bell) -> None:
        self.house = house
        self.bot = bot
        self.agent = house.agent
        self.manager: Person = bot.person(MANAGER, "Mo")
        # What the node said over its other channels.
        self.told = told
        self.news = news

    @property
    def health(self) -> str:
        return str(self.house.node.status()["channels"]["telegram"])


@asynccontextmanager
async def telegram_house(
    folder: Path,
    bot: FakeBot,
    *,
    agent: ScriptedDriver | None = None,
    public: bool = False,
    hub: Callable[[Hub], Any] = lambda hub: hub,
    outbox: Callable[[Outbox], Any] = lambda outbox: outbox,
    **options: Any,
) -> AsyncIterator[TelegramHouse]:
    """A house on Telegram; opened again in the same folder, it is the same node after a restart."""
    told: list[str] = []
    news = Bell()

    async def tell(text: str) -> None:
        told.append(text)
        news.ring()

    def channels(parts: Parts) -> list[Any]:
        url = f"http://127.0.0.1:{parts.port}" if public else ""
        given = TelegramOptions(
            token=bot.token,
            folder=parts.settings.folder,
            api_url=bot.address,
            public_url=url,
            steers=parts.steers,
            **{"chat_burst": 50, "poll_seconds": 1, **options},
        )
        return [TelegramChannel(given, hub(parts.hub), outbox(parts.outbox), parts.clock, tell)]

    async with open_house(folder, agent, SystemClock(), channels) as house:
        yield TelegramHouse(house, bot, told, news)
