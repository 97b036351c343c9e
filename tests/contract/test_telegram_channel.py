"""Telegram keeps the promises of every channel."""

import pytest

from farhand.app import Channels
from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.telegram import FakeBot

MANAGER = 4242


class TestTelegram(ChannelContract):
    """The channel over the fake Telegram."""

    @pytest.fixture
    async def channels(self, bot: FakeBot) -> Channels:
        await bot.order("chat", bool, id=MANAGER, type="private", first_name="Mo", topics={})

        settings = TelegramSettings(
            token=bot.token, api_url=bot.address, admin_chat_id=str(MANAGER), limits=RateLimits(chat_burst=100)
        )
        return lambda context: [TelegramChannel(settings, context)]

    @pytest.fixture
    def shown(self, bot: FakeBot) -> Shown:
        async def texts() -> list[str]:
            return [one.text for one in await bot.messages(MANAGER) if one.buzzed and not one.deleted]

        return texts
