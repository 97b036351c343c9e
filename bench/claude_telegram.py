"""The way in and out with the real Claude Code: webhook to prompt, last word to `sendMessage`."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.claude import PROGRAMS, ROUNDS, Timed, median_ms
from bench.rows import Row, beside
from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire
from farhand.model.facts import CameOnline, Seen, TurnEnded, TurnStarted
from farhand.testing.bun import AS_SHIPPED
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.script import say
from farhand.testing.models.server import served
from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process

MANAGER = 4242
SECRET = "a-secret-of-the-bench"


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


async def way_in(cli_env: ClaudeEnv, house: House, model: Timed) -> Row:
    """Messages as Telegram posts them, in turns with a bare paste and Enter into the same Claude Code."""
    model.script.conversation("yy", *[say("good.") for _ in range(2 * ROUNDS)])
    pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
    after = house.hub.present.seq
    ours: list[float] = []
    bare: list[float] = []
    async with httpx2.AsyncClient(headers={"X-Telegram-Bot-Api-Secret-Token": SECRET}) as telegram:
        for number in range(ROUNDS):
            started = time.time()
            answer = await telegram.post(f"http://127.0.0.1:{house.node.port}/", json=update(number))
            assert answer.status_code == 200, answer.text
            ours.append((await house.event(Seen, after=after)).at - started)
            after = (await house.event(TurnEnded, after=after)).seq
            started = time.time()
            await cli_env.tmux.paste(pane, f"yy bare {number}")
            await cli_env.tmux.press(pane, "Enter")
            bare.append((await house.event(TurnStarted, after=after)).at - started)
            after = (await house.event(TurnEnded, after=after)).seq
    return beside("webhook → UserPromptSubmit", median_ms(ours), "ms", "bare paste and Enter", median_ms(bare), 1.5)


def update(number: int) -> dict[str, Any]:
    """A message of the manager, as Telegram tells of it."""
    person = {"id": MANAGER, "first_name": "Mo", "is_bot": False}
    message = {"message_id": 1_000_000 + number, "date": int(time.time()), "chat": {"id": MANAGER, "type": "private"}}
    return {"update_id": 1_000_000 + number, "message": {**message, "from": person, "text": f"yy message {number}"}}


async def conversation(cli_env: ClaudeEnv, house: House, bot: FakeBot, model: Timed, stops: Stops) -> list[Row]:
    """Both ways, in one session."""
    await house.send(Hire(id="hire", worker="ann", backend="claude", directory=str(cli_env.project)))
    await house.event(CameOnline)
    out = await way_out(bot, model, stops)
    return [await way_in(cli_env, house, model), out]


async def way_out(bot: FakeBot, model: Timed, stops: Stops) -> Row:
    """Messages from a phone, one after the other; both ways out are measured from the model's last word."""
    model.script.conversation("zz", *[say(f"answer {number}.") for number in range(ROUNDS)])
    manager = bot.person(MANAGER)
    sent: list[float] = []
    floor: list[float] = []
    for number in range(ROUNDS):
        await manager.says(f"zz message {number}")
        await manager.reads(f"answer {number}.", seconds=30)
        floor.append(await stops.reach(number + 1) - model.answered_at)
        sent.append(await sent_at(bot, f"answer {number}.") - model.answered_at)
    name = "last word → sendMessage on the wire"
    return beside(name, median_ms(sent), "ms", "bare HTTP Stop hook", median_ms(floor))


async def sent_at(bot: FakeBot, text: str) -> float:
    """When a message with that text was sent; progress may have shown the words before."""
    with anyio.fail_after(30):
        while True:
            for call in reversed(await bot.calls("sendMessage")):
                if text in call.parameters["text"]:
                    return call.at
            await anyio.sleep(0.005)


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

            def channels(context: ChannelContext) -> list[Channel]:
                settings = TelegramSettings(
                    token=bot.token,
                    api_url=bot.address,
                    webhook_secret=SECRET,
                    limits=RateLimits(chat_burst=1000),
                )
                return [TelegramChannel(settings, replace(context, public_url=f"http://127.0.0.1:{context.port}"))]

            cli_env = ClaudeEnv(folder, server, model, address, PROGRAMS, AS_SHIPPED)
            hook = {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": bare + "/", "timeout": 5}]}]}}
            (folder / "home/.claude").mkdir()
            (folder / "home/.claude/settings.json").write_text(json.dumps(hook))
            try:
                async with cli_env.open(channels=channels) as house:
                    return await conversation(cli_env, house, bot, model, stops)
            finally:
                await anyio.run_process([*server, "kill-server"], check=False)
