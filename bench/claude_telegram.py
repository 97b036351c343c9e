"""The whole way out: the last word of the real Claude Code until its `sendMessage`, beside a bare HTTP Stop hook."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.claude import PROGRAMS, ROUNDS, Timed, median_ms
from bench.rows import Row, beside
from farhand.app import Parts
from farhand.channels.telegram.channel import Options, TelegramChannel
from farhand.model.commands import Hire
from farhand.model.facts import CameOnline
from farhand.testing.house import House
from farhand.testing.models.script import say
from farhand.testing.models.serving import served
from farhand.testing.studio import Studio
from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process

MANAGER = 4242


class Stops:
    """When the bare hook was posted."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def app(self) -> Starlette:
        """What the hook posts to: it notes the time and nothing else."""
        return Starlette(routes=[Route("/", self._stopped, methods=["POST"])])

    async def _stopped(self, _: Request) -> Response:
        self.at.append(time.time())
        return Response(status_code=204)

    async def reach(self, count: int) -> float:
        """When the hook came for that time; waits for it."""
        with anyio.fail_after(10):
            while len(self.at) < count:
                await anyio.sleep(0.005)
        return self.at[count - 1]


async def conversation(studio: Studio, house: House, bot: FakeBot, model: Timed, stops: Stops) -> list[Row]:
    """Messages from a phone, one after the other; both ways out are measured from the model's last word."""
    model.script.conversation("zz", *[say(f"answer {number}.") for number in range(ROUNDS)])
    manager = bot.person(MANAGER)
    await house.send(Hire(id="hire", worker="ann", backend="claude", directory=str(studio.project)))
    await house.event(CameOnline)
    sent: list[float] = []
    floor: list[float] = []
    for number in range(ROUNDS):
        await manager.says(f"zz message {number}")
        await manager.reads(f"answer {number}.", seconds=30)
        floor.append(await stops.reach(number + 1) - model.answered_at)
        calls = await bot.calls("sendMessage")
        answer = next(call for call in reversed(calls) if f"answer {number}." in call.parameters["text"])
        sent.append(answer.at - model.answered_at)
    name = "last word → sendMessage on the wire"
    return [beside(name, median_ms(sent), "ms", "bare HTTP Stop hook", median_ms(floor))]


async def measure() -> list[Row]:
    """The figure; the fake Telegram runs in a process of its own, as Telegram does."""
    with telegram_process() as telegram_address, tempfile.TemporaryDirectory(prefix="fh") as name:
        folder, model, stops = Path(name), Timed(), Stops()
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        async with (
            FakeTelegram(telegram_address) as telegram,
            model.served() as address,
            served(stops.app()) as bare,
        ):
            bot = await telegram.new_bot()

            def channels(parts: Parts) -> list[Any]:
                options = Options(token=bot.token, folder=parts.settings.folder, api_url=bot.address, chat_burst=1000)
                return [TelegramChannel(options, parts.hub, parts.outbox, parts.clock)]

            studio = Studio(folder, server, model, address, PROGRAMS)
            hook = {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": bare + "/", "timeout": 5}]}]}}
            (folder / "home/.claude").mkdir()
            (folder / "home/.claude/settings.json").write_text(json.dumps(hook))
            try:
                async with studio.open(channels=channels) as house:
                    return await conversation(studio, house, bot, model, stops)
            finally:
                await anyio.run_process([*server, "kill-server"], check=False)
