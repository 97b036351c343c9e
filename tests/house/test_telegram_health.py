"""A bot that hears nothing says so in one clear line, in `status` and over other channels, and heals by itself."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house
from tests.house.tripping_hub import POISON, TrippingHub

from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.testing.house import open_house
from farhand.testing.telegram import FakeBot
from farhand.testing.telegram.bell import Bell

pytestmark = pytest.mark.anyio


async def told(telegram: TelegramHouse, words: str) -> str:
    """What was told over another channel, once it has these words in it."""
    with anyio.fail_after(240):
        while not any(words in one for one in telegram.told):
            await telegram.news.wait(telegram.news.count, 1)
    return next(one for one in telegram.told if words in one)


async def works(telegram: TelegramHouse) -> None:
    before = len(await telegram.bot.messages(telegram.manager.id))
    await telegram.manager.says(f"are you there, {before}?")
    await telegram.manager.reads(f"answer to are you there, {before}?")


async def test_another_poller_is_told_and_we_go_on_when_it_is_gone(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        conflict = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
        await bot.fault("getUpdates", code=409, description=conflict, times=-1)
        line = await told(telegram, "Another program polls this bot")
        assert line == "Telegram: Another program polls this bot: stop it, or give this node a bot of its own."
        assert "deaf since" in telegram.health
        assert "Another program polls this bot" in telegram.health
        await bot.clear_faults()
        await works(telegram)
        assert telegram.health == f"polling as @{bot.username}"
        assert "Telegram works again." in telegram.told


async def test_a_revoked_token_is_told_without_the_token(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await bot.revoke()
        await told(telegram, "Telegram refuses the bot token: set TELEGRAM_BOT_TOKEN to a valid one.")
        assert bot.token not in "".join([*telegram.told, telegram.health])
        await bot.revoke(False)
        await works(telegram)


async def test_a_foreign_webhook_is_told_and_left_alone(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await bot.http.post(f"/bot{bot.token}/setWebhook", json={"url": "https://elsewhere.example/secret-path"})
        line = await told(telegram, "A webhook is set elsewhere")
        assert line == (
            "Telegram: A webhook is set elsewhere (elsewhere.example), so this node hears nothing. "
            "If nobody needs it any more: farhand webhook delete"
        )
        assert (await bot.standing()).webhook_url == "https://elsewhere.example/secret-path"
        await bot.http.post(f"/bot{bot.token}/deleteWebhook")
        await works(telegram)


async def test_our_own_webhook_is_taken_down_when_we_poll_again(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, public=True) as telegram:
        await telegram.house.hire()
        standing = await bot.until_standing(lambda standing: standing.webhook_url)
        assert standing.max_connections == 1
        assert len(standing.webhook_secret) >= 32
        await works(telegram)
    async with telegram_house(tmp_path, bot) as telegram:
        await bot.until_standing(lambda standing: not standing.webhook_url)
        await works(telegram)


async def test_the_webhook_needs_its_secret(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, public=True) as telegram:
        await telegram.house.hire()
        await bot.until_standing(lambda standing: standing.webhook_url)
        url = (await bot.standing()).webhook_url
        update = {"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "from": {"id": 1}, "text": "hi"}}
        assert (await bot.http.post(url, json=update)).status_code == 403
        wrong = {"X-Telegram-Bot-Api-Secret-Token": "wrong"}
        assert (await bot.http.post(url, json=update, headers=wrong)).status_code == 403
        right = {"X-Telegram-Bot-Api-Secret-Token": (await bot.standing()).webhook_secret}
        for body in (b"", b"{", b"[]", b'{"update_id": "x"}', b"\xff\xfe", b'{"update_id":1,"message":5}'):
            assert (await bot.http.post(url, content=body, headers=right)).status_code == 200
        await works(telegram)


async def test_a_network_that_is_gone_for_a_moment_costs_nothing(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await works(telegram)
        await bot.fault("*", "cut", times=6)
        await telegram.manager.says("through the storm")
        await telegram.manager.reads("answer to through the storm")
        # That somebody became the manager is all that was worth saying.
        assert [line for line in telegram.told if "farhand manager" not in line] == []


async def test_the_menu_is_as_the_team_is(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire("ann-marie")
        standing = await bot.until_standing(lambda standing: "ann_marie" in standing.commands)
        assert "team" in standing.commands


async def test_what_one_channel_has_to_say_comes_over_the_others(tmp_path: Path, bot: FakeBot) -> None:
    heard = Bell()
    lines: list[str] = []

    def listen(text: str) -> None:
        lines.append(text)
        heard.ring()

    def channels(context: ChannelContext) -> list[Channel]:
        return [TelegramChannel(TelegramSettings(token=bot.token, api_url=bot.address), context)]

    async with open_house(tmp_path, None, SystemClock(), channels) as house:
        house.node.listeners.append(listen)
        await bot.revoke()
        with anyio.fail_after(240):
            while not lines:
                await heard.wait(heard.count, 1)
        assert lines == ["Telegram refuses the bot token: set TELEGRAM_BOT_TOKEN to a valid one."]


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_a_message_that_trips_an_error_of_ours_makes_nobody_deaf(
    tmp_path: Path, bot: FakeBot, public: bool
) -> None:
    async with telegram_house(tmp_path, bot, public=public, hub=TrippingHub) as telegram:
        await telegram.house.hire()
        await works(telegram)
        await telegram.manager.says(POISON)
        await telegram.manager.says("after it")
        await telegram.manager.reads("answer to after it")
        await telegram.manager.reads("tripped an error in farhand")
