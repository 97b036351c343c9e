"""A message on Telegram and its answer there: over the real Claude Code, beside the bare CLI; and a burst of them."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, PIPE

import anyio
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream
from starlette.requests import Request
from starlette.responses import Response

from bench.claude import PROGRAMS
from bench.claude_telegram import MANAGER, SECRET, Stops, sent_at, update
from bench.rows import Row, beside
from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.drivers.claude.launch import ClaudePaths, found, headless_line, prepare_account
from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.wires.tmux import Tmux
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire
from farhand.model.facts import CameOnline, TurnEnded
from farhand.model.words import Mode
from farhand.testing.bun import AS_SHIPPED
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.anthropic import ASIDE, FakeAnthropic
from farhand.testing.models.script import AnyStep, say
from farhand.testing.models.server import served
from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process

ROUNDS = 25
BURST = 15
# A real model needs longer than this for a word; without it, the limit of one message a second alone decides.
BURST_MODEL_SECONDS = 0.3
# So long nothing is measured, so that what a turn leaves behind is not in the next one's time.
REST_SECONDS = 0.3
TMUX_LIMIT_MS = 60.0
HEADLESS_LIMIT_MS = 15.0
BURST_LIMIT_MS = 3000.0
UNLIMITED = RateLimits(chat_burst=1000)

# Sends one message to the bare CLI; returns when its answer is complete, with the time of that.
Ask = Callable[[str], Awaitable[float]]


class TimedModel(FakeAnthropic):
    """Notes when it was asked and when its last word was on the wire; both of scripted requests alone."""

    asked_at = 0.0
    answered_at = 0.0
    seconds = 0.0

    async def _messages(self, request: Request) -> Response:
        asked_at = time.time()
        response = await super()._messages(request)
        if self.calls[-1].scripted:
            self.asked_at = asked_at
        return response

    async def _stream(self, step: AnyStep, model: str, number: int) -> AsyncIterator[bytes]:
        await anyio.sleep(self.seconds if step is not ASIDE else 0)
        async for event in super()._stream(step, model, number):
            yield event
        if step is not ASIDE:
            self.answered_at = time.time()


@dataclass
class Times:
    """What each round took until the model was asked, from its last word to the answer, and in all."""

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def add(self, started: float, model: TimedModel, answered: float) -> None:
        """One round."""
        self.before.append((model.asked_at - started) * 1000)
        self.after.append((answered - model.answered_at) * 1000)
        self.whole.append((answered - started) * 1000)


def compared(name: str, ours: Times, bare: Times, limit: float) -> list[Row]:
    """The gate, and its two parts beside the bare CLI's."""
    more = median(ours.whole) - median(bare.whole)
    note = f"{median(ours.whole):.0f} ms beside {median(bare.whole):.0f} ms"
    return [
        Row(f"{name}: Telegram → answer, more than bare", more, "ms", limit=limit, note=note),
        beside(f"{name}: webhook → model asked", median(ours.before), "ms", "bare CLI", median(bare.before)),
        beside(f"{name}: last word → sendMessage", median(ours.after), "ms", "bare CLI", median(bare.after)),
    ]


@dataclass
class Phone:
    """Somebody on Telegram who writes to a worker of this house."""

    house: House
    bot: FakeBot
    model: TimedModel
    client: httpx2.AsyncClient
    number: int = 0

    async def hire(self, backend: str, directory: Path) -> None:
        """A worker to talk to."""
        await self.house.send(Hire(id="hire", worker="ann", backend=backend, directory=str(directory)))
        await self.house.event(CameOnline)
        # Telegram knows a chat from the person's first word on.
        self.model.script.conversation("first-word", say("hello."))
        await self.bot.person(MANAGER).says("first-word")
        await self.bot.person(MANAGER).reads("hello.", seconds=60)

    async def post(self, text: str) -> None:
        """A message, as Telegram posts it to the webhook."""
        self.number += 1
        told = update(self.number)
        told["message"]["text"] = text
        answer = await self.client.post(f"http://127.0.0.1:{self.house.node.port}/", json=told)
        assert answer.status_code == 200, answer.text

    async def asks(self, text: str, answer: str) -> float:
        """Writes a message; when its answer was on the wire."""
        after = self.house.hub.present.seq
        await self.post(text)
        await self.house.event(TurnEnded, after=after)
        # Telegram notes the time itself: whoever asks it meanwhile takes the node's loop away from the answer.
        await anyio.sleep(REST_SECONDS)
        return await sent_at(self.bot, answer)


async def in_turns(phone: Phone, bare: Ask) -> tuple[Times, Times]:
    """The same exchange with a worker and with the bare CLI, one after the other, so that a busy moment hits both."""
    ours, theirs = Times(), Times()
    model = phone.model
    for number in range(ROUNDS + 1):
        model.script.conversation(f"ours-{number:03}", say(f"our answer {number:03}."))
        model.script.conversation(f"bare-{number:03}", say(f"bare answer {number:03}."))
        await anyio.sleep(REST_SECONDS)
        started = time.time()
        answered = await phone.asks(f"ours-{number:03}", f"our answer {number:03}.")
        if number:
            ours.add(started, model, answered)
        await anyio.sleep(REST_SECONDS)
        started = time.time()
        answered = await bare(f"bare-{number:03}")
        # The first of each warms up.
        if number:
            theirs.add(started, model, answered)
    return ours, theirs


@asynccontextmanager
async def bare_pane(env: ClaudeEnv, stops: Stops, address: str) -> AsyncIterator[Ask]:
    """Claude Code in a pane of its own, with one hook that says when it stopped; a message is a paste and Enter."""
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": address + "/", "timeout": 5}]}]}}
    (env.home / ".claude").mkdir()
    (env.home / ".claude/settings.json").write_text(json.dumps(hook))
    prepare_account(ClaudePaths.of(env.environment), env.environment, env.project)
    words = ["claude", "--permission-mode", "manual", "--session-id", str(uuid.uuid4())]
    tmux = Tmux(env.server, "bare", env.environment)
    async with tmux.opened():
        pane = await tmux.start("bare-claude", words, env.project, env.environment)
        assert await ClaudeKeyboard(tmux, pane).through_dialogs() is None

        async def ask(text: str) -> float:
            count = len(stops.at) + 1
            await tmux.paste(pane, text, "Enter")
            return await stops.reach(count)

        yield ask


@asynccontextmanager
async def bare_process(env: ClaudeEnv) -> AsyncIterator[Ask]:
    """Claude Code without a terminal, fed with lines as the driver feeds it; an answer ends with its `result`."""
    prepare_account(ClaudePaths.of(env.environment), env.environment, env.project)
    words = headless_line(found("claude", env.environment), Mode.DEFAULT, "", str(uuid.uuid4()), resume=False)
    process = await anyio.open_process(
        words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=env.project, env=env.environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)

    async def ask(text: str) -> float:
        told = {"type": "user", "message": {"role": "user", "content": text}}
        assert process.stdin is not None
        await process.stdin.send(json.dumps(told).encode() + b"\n")
        while json.loads(await lines.receive_until(b"\n", 1 << 24))["type"] != "result":
            pass
        return time.time()

    async with process:
        yield ask
        process.terminate()


def channel(bot: FakeBot, limits: RateLimits, context: ChannelContext) -> list[Channel]:
    """Telegram by webhook, for one manager."""
    settings = TelegramSettings(token=bot.token, api_url=bot.address, webhook_secret=SECRET, limits=limits)
    return [TelegramChannel(settings, replace(context, public_url=f"http://127.0.0.1:{context.port}"))]


def _folder() -> tempfile.TemporaryDirectory[str]:
    # Claude Code may still write when its pane is killed.
    return tempfile.TemporaryDirectory(prefix="fh", ignore_cleanup_errors=True)


@asynccontextmanager
async def workplace(backend: str, limits: RateLimits) -> AsyncIterator[tuple[Phone, ClaudeEnv]]:
    """A house with a worker and a phone; and a second place for a bare CLI, with the same model and the same tmux."""
    with telegram_process() as telegram_address, _folder() as name:
        folder, model = Path(name), TimedModel()
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        (folder / "bare").mkdir()
        async with (
            FakeTelegram(telegram_address) as telegram,
            model.served() as address,
            httpx2.AsyncClient(headers={"X-Telegram-Bot-Api-Secret-Token": SECRET}) as client,
        ):
            bot = await telegram.new_bot()
            env = ClaudeEnv(folder, server, model, address, PROGRAMS, AS_SHIPPED)
            bare = ClaudeEnv(folder / "bare", server, model, address, PROGRAMS, AS_SHIPPED)
            try:
                async with env.open(channels=partial(channel, bot, limits)) as house:
                    phone = Phone(house, bot, model, client)
                    await phone.hire(backend, env.project)
                    yield phone, bare
            finally:
                await env.tidy()
                await anyio.run_process([*server, "kill-server"], check=False)


async def in_tmux() -> list[Row]:
    """Over Claude Code in tmux."""
    stops = Stops()
    async with (
        workplace("claude", UNLIMITED) as (phone, env),
        served(stops.app()) as address,
        bare_pane(env, stops, address) as bare,
    ):
        return compared("tmux", *await in_turns(phone, bare), TMUX_LIMIT_MS)


async def headless() -> list[Row]:
    """Over Claude Code without a terminal."""
    async with workplace("claude-headless", UNLIMITED) as (phone, env), bare_process(env) as bare:
        return compared("headless", *await in_turns(phone, bare), HEADLESS_LIMIT_MS)


async def burst(backend: str) -> Row:
    """Messages all at once, at the pace that Telegram allows; how long after the model's last word the last answer."""
    async with workplace(backend, RateLimits()) as (phone, _):
        phone.model.seconds = BURST_MODEL_SECONDS
        for number in range(BURST):
            phone.model.script.conversation(f"burst-{number:03}", say(f"burst answer {number:03}."))
        async with anyio.create_task_group() as tasks:
            for number in range(BURST):
                tasks.start_soon(phone.post, f"burst-{number:03}")
        sent = [await sent_at(phone.bot, f"burst answer {number:03}.") for number in range(BURST)]
        return Row(
            f"{backend}: a burst of {BURST}, last word → last answer",
            (max(sent) - phone.model.answered_at) * 1000,
            "ms",
            limit=BURST_LIMIT_MS,
        )


async def measure() -> list[Row]:
    """Every figure, each in a house of its own."""
    return [*await in_tmux(), *await headless(), await burst("claude"), await burst("claude-headless")]
