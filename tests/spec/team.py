"""The whole team on a fake Telegram: every channel of a node, with scripted agents that are called claude and codex."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
from tests.house.telegram_house import telegram_settings

from farhand import app, roster
from farhand.channels.telegram.channel import TelegramChannel
from farhand.config.settings import Settings
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire
from farhand.model.facts import CameOnline
from farhand.model.ports import Can, Clock, Deliver, Driver
from farhand.model.words import Sender
from farhand.testing.house import House, settings_in
from farhand.testing.http import local_client
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot, Person

MANAGER = 4242
ABLE = Can(interrupt=True, steer=True, images=True, ids=True, terminal=True)


class Team:
    """A node, its bot, its manager, and its agents."""

    def __init__(self, house: House, bot: FakeBot, codex: ScriptedDriver) -> None:
        self.house = house
        self.bot = bot
        self.claude = house.agent
        self.codex = codex
        self.settings: Settings = house.node.settings
        self.manager: Person = bot.person(MANAGER, "Mo")

    async def hire(self, name: str = "ann", backend: str = "claude", *, gets_pipe: bool = True) -> None:
        """Puts a worker on the team without a word to anybody: nobody is welcomed. Its pipe is there then."""
        command = Hire(id=self.house.id(), worker=name, backend=backend)
        accepted = await self.house.hub.send(command, Sender(via="node"))
        await self.house.fact(CameOnline, lambda event: event.worker == name, after=accepted.seq - 1)
        # Whoever makes it hears of the hiring when everybody does.
        if gets_pipe:
            await until(self.pipe(name).exists)

    async def asks(self, text: str) -> str:
        """Says something to the bot and gives what it replies to that very message."""
        spoken = await self.manager.says(text)
        chat = await self.manager.sees(lambda chat: any(one.reply_to == spoken.message_id for one in chat))
        return next(one.text for one in chat if one.reply_to == spoken.message_id)

    def told(self, worker: str = "ann") -> list[str]:
        """What a worker was told, in order."""
        everyone = [*self.claude.performed, *self.codex.performed]
        return [errand.message.text for name, errand in everyone if name == worker and isinstance(errand, Deliver)]

    async def until_told(self, text: str, worker: str = "ann") -> str:
        """The first message to a worker with these words in it."""
        await self.house.until(lambda _: any(text in one for one in self.told(worker)))
        return next(one for one in self.told(worker) if text in one)

    @property
    def url(self) -> str:
        """Where the node's routes are."""
        return f"http://127.0.0.1:{self.house.node.port}"

    async def post(self, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        """A request of a program on this machine."""
        async with local_client() as client:
            return await client.post(f"{self.url}{path}", json=body, **more)

    async def get(self, path: str, **more: Any) -> httpx2.Response:
        """A request of a program on this machine."""
        async with local_client() as client:
            return await client.get(f"{self.url}{path}", **more)

    def session(self, worker: str = "ann") -> Path:
        """The folder of a worker's small files."""
        return self.settings.sessions / worker

    def pipe(self, worker: str = "ann") -> Path:
        """Its pipe."""
        return self.settings.temporary / self.settings.node / worker / "in.pipe"


@asynccontextmanager
async def team_house(
    folder: Path,
    bot: FakeBot,
    *,
    claude: ScriptedDriver | None = None,
    codex: ScriptedDriver | None = None,
    clock: Clock | None = None,
    drivers: Mapping[str, Driver] | None = None,
    settings: Mapping[str, Any] | None = None,
    **telegram: Any,
) -> AsyncIterator[Team]:
    """A team in that folder; opened again in the same folder, it is the same node after a restart."""
    claude = claude or ScriptedDriver(ABLE, backend="claude")
    codex = codex or ScriptedDriver(backend="codex")
    quick = {"chat_burst": 1000, "chat_per_second": 1000.0, "per_second": 1000.0}
    given = telegram_settings(bot, **{**quick, "poll_seconds": 5, **telegram})

    def channels(context: ChannelContext) -> list[Channel]:
        return [TelegramChannel(given, context), *roster.build_channels(context, without={"telegram"})]

    built = replace(settings_in(folder), **(settings or {}))
    everyone = {"claude": claude, "codex": codex, **(drivers or {})}
    clock = clock or SystemClock()
    async with app.node(built, everyone, channels, clock) as running:
        yield Team(House(running, claude, clock), bot, codex)
