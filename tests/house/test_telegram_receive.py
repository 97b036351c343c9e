"""The hearing test: a node that does not hear Telegram notices it, heals itself, and tells the manager within two
minutes if it cannot; all by a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette
from tests.house.telegram_house import telegram_settings

from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.sendable_files import SendableFiles
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.receive import PollingReceiver, WebhookReceiver, WebhookSeen, is_deaf
from farhand.channels.telegram.state_files import TelegramStored
from farhand.channels.telegram.switch import SwitchingReceiver
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.reach.address import TunnelAddress
from farhand.server import http
from farhand.testing.clock import ManualClock
from farhand.testing.house import open_house
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0
TWO_MINUTES = 120
SECRET = "a-secret-of-the-webhook"


class Receivers:
    """Telegram's receivers with a clock of the test's own, what they took, and what the manager was told."""

    def __init__(self, bot: FakeBot, folder: Path, url: str = "", tunnel: TunnelAddress | None = None) -> None:
        self.bot = bot
        self.clock = ManualClock()
        self.told: list[tuple[float, str]] = []
        self.taken: list[bytes] = []
        self.began = self.clock.now()
        # The poll's own limits are far away: what is tested is ours.
        files = SendableFiles(folder, folder, node=folder)
        self.gateway = Gateway(bot.token, bot.address, files=files, answer_seconds=600, poll_seconds=50)
        stored = TelegramStored(folder)
        self.health = ChatHealth("Telegram", self.clock, self)
        self.webhook = WebhookReceiver(self.gateway, self, self.health, self.clock, stored, SECRET)
        polling = PollingReceiver(self.gateway, self, self.health, self.clock, stored)
        self.receiver = SwitchingReceiver(polling, self.webhook, url, tunnel, self)

    async def announce(self, text: str) -> None:
        self.told.append((self.clock.now() - self.began, text))

    async def take(self, update: bytes) -> None:
        self.taken.append(update)

    async def until(self, holds: Callable[[], object], seconds: int = 0) -> int:
        """Waits until it holds, while at most so many seconds pass by the test's clock; how many did."""
        passed = 0
        with anyio.fail_after(SAFETY_SECONDS):
            while not holds():
                # What is under way over the network gets its time before the clock moves on.
                for _ in range(3):
                    await self.bot.standing()
                    await anyio.sleep(0.01)
                if passed < seconds and not holds():
                    self.clock.advance(1)
                    passed += 1
        return passed


@asynccontextmanager
async def receiving(made: Receivers) -> AsyncIterator[Receivers]:
    async with made.gateway.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(made.receiver.run)
        yield made
        tasks.cancel_scope.cancel()


async def test_a_poll_that_hangs_is_made_anew(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("getUpdates", "hang", times=1, seconds=3600)
    async with receiving(Receivers(bot, tmp_path)) as one:
        await bot.until_calls(lambda calls: len(calls) == 1, "getUpdates")
        await bot.person(7).says("are you there?")
        await one.until(lambda: one.taken, TWO_MINUTES)
        assert len(one.taken) == 1
        assert one.health.problem == ""


async def test_polls_that_all_hang_are_told_within_two_minutes(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("getUpdates", "hang", times=-1, seconds=3600)
    async with receiving(Receivers(bot, tmp_path)) as one:
        await bot.until_calls(lambda calls: len(calls) == 1, "getUpdates")
        await one.until(lambda: one.told, TWO_MINUTES)
        at, text = one.told[0]
        assert text == "Telegram cannot be reached: no answer in time"
        assert at < TWO_MINUTES
        assert one.health.receive_status().deaf_since is not None
        await bot.clear_faults()
        await one.until(lambda: one.told[1:], TWO_MINUTES)
        assert one.told[1][1] == "Telegram works again."
        assert one.health.receive_status().deaf_since is None


async def test_a_network_that_is_gone_is_told_within_two_minutes(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("getUpdates", "cut", times=-1)
    async with receiving(Receivers(bot, tmp_path)) as one:
        await one.until(lambda: one.told, TWO_MINUTES)
        assert one.told[0][0] < TWO_MINUTES


async def test_a_machine_that_slept_has_not_been_deaf(tmp_path: Path, bot: FakeBot) -> None:
    async with receiving(Receivers(bot, tmp_path)) as one:
        await bot.until_calls(lambda calls: len(calls) == 1, "getUpdates")
        one.clock.advance(8 * 3600)
        await bot.person(7).says("good morning")
        await one.until(lambda: one.taken)
        await bot.until_calls(lambda calls: len(calls) == 2, "getUpdates")
        assert one.told == []


@asynccontextmanager
async def serving(made: Receivers, *, cut_off: Callable[[], bool]) -> AsyncIterator[str]:
    """The webhook's route on a port of its own; behind `cut_off` nobody gets there."""
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def receive(request: Request) -> Response:
        return Response("error code: 1033", 530) if cut_off() else await made.webhook.receive(request)

    listener = http.bind("127.0.0.1", 0)
    async with anyio.create_task_group() as tasks:
        await tasks.start(http.serve, Starlette(routes=[Route("/", receive, methods=["POST"])]), listener)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        tasks.cancel_scope.cancel()


async def test_a_webhook_that_nothing_reaches_is_set_again_and_then_polled_instead(
    tmp_path: Path, bot: FakeBot
) -> None:
    cut = True
    made = Receivers(bot, tmp_path)
    async with serving(made, cut_off=lambda: cut) as url:
        made.receiver = SwitchingReceiver(made.receiver._polling, made.webhook, url, None, made)
        async with receiving(made) as one:
            await bot.until_standing(lambda standing: standing.webhook_url)
            await bot.person(7).says("are you there?")
            await one.until(lambda: one.taken, TWO_MINUTES)
            assert one.clock.now() - one.began < TWO_MINUTES
            assert len(await bot.calls("setWebhook")) == 2
            assert (await bot.standing()).webhook_url == ""
            assert len(one.taken) == 1
            (told,) = [text for _, text in one.told]
            assert told.startswith("Telegram cannot bring its updates: ")
            assert told.endswith(f" ({url.removeprefix('http://')}). Telegram is polled instead.")


async def test_a_webhook_that_is_heard_again_is_kept(tmp_path: Path, bot: FakeBot) -> None:
    cut = True
    made = Receivers(bot, tmp_path)
    async with serving(made, cut_off=lambda: cut) as url:
        made.receiver = SwitchingReceiver(made.receiver._polling, made.webhook, url, None, made)
        async with receiving(made) as one:
            await bot.until_standing(lambda standing: standing.webhook_url)
            await bot.person(7).says("are you there?")
            await one.until(lambda: one.health.problem, TWO_MINUTES)
            cut = False
            await one.until(lambda: one.taken)
            await one.until(lambda: not one.health.problem, TWO_MINUTES)
            assert (await bot.standing()).webhook_url == f"{url}/"
            assert one.told == []


async def test_a_tunnel_that_nothing_comes_through_is_complained_of_and_polled_meanwhile(
    tmp_path: Path, bot: FakeBot
) -> None:
    tunnel = TunnelAddress()
    made = Receivers(bot, tmp_path, tunnel=tunnel)
    async with serving(made, cut_off=lambda: True) as url, receiving(made) as one:
        await bot.until_standing(lambda standing: standing.polling)
        tunnel.set(url)
        await bot.until_standing(lambda standing: standing.webhook_url == f"{url}/")
        await bot.person(7).says("are you there?")
        complaints: list[str] = []

        async def listen() -> None:
            complaints.append(await tunnel.complaint())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await one.until(lambda: complaints, TWO_MINUTES)
        assert "Telegram cannot bring its updates" in complaints[0]
        await one.until(lambda: one.taken, TWO_MINUTES)
        tunnel.set("")
        await bot.until_standing(lambda standing: standing.polling and not standing.webhook_url)


async def test_an_address_that_telegram_refuses_is_given_up(tmp_path: Path, bot: FakeBot) -> None:
    refused = "Bad Request: bad webhook: Failed to resolve host: Name or service not known"
    await bot.fault("setWebhook", code=400, description=refused, times=-1)
    tunnel = TunnelAddress()
    async with receiving(Receivers(bot, tmp_path, tunnel=tunnel)) as one:
        tunnel.set("https://quiet-fox.trycloudflare.com")
        complaints: list[str] = []

        async def listen() -> None:
            complaints.append(await tunnel.complaint())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await one.until(lambda: complaints, TWO_MINUTES)
        assert (
            complaints
            == ["Telegram refuses it as a webhook: Bad webhook: failed to resolve host: name or service not known"]
            or "resolve host" in complaints[0]
        )
        await bot.person(7).says("are you there?")
        await one.until(lambda: one.taken, TWO_MINUTES)


@pytest.mark.parametrize(
    ("before", "now", "deaf"),
    [
        (None, (3, 0), False),
        ((0, 0), (5, 0), False),
        ((1, 4), (1, 4), True),
        ((1, 4), (2, 4), True),
        ((2, 4), (1, 5), False),
        ((2, 4), (4, 5), False),
        ((2, 4), (1, 4), False),
    ],
)
def test_deaf_is_who_is_waited_for_and_takes_nothing(
    before: tuple[int, int] | None, now: tuple[int, int], deaf: bool
) -> None:
    seen = None if before is None else WebhookSeen(*before)
    assert is_deaf(seen, WebhookSeen(*now)) is deaf


async def test_a_bot_that_is_deaf_and_not_dumb_says_so_itself(tmp_path: Path, bot: FakeBot) -> None:
    def channels(context: ChannelContext) -> list[Channel]:
        return [TelegramChannel(telegram_settings(bot, poll_seconds=1), context)]

    manager = bot.person(7)
    async with open_house(tmp_path, None, SystemClock(), channels) as house:
        await manager.says("/team")
        await manager.reads("No team members yet.")
        assert house.node.status()["hearing"]["telegram"]["problem"] == ""
        await bot.http.post(f"/bot{bot.token}/setWebhook", json={"url": "https://elsewhere.example/"})
        await manager.reads("Telegram: A webhook is set elsewhere (elsewhere.example), so this node hears nothing.")
        assert house.node.status()["hearing"]["telegram"]["deaf_since"]
