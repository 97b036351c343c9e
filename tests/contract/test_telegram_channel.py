"""Telegram keeps the promises of every channel."""

from typing import Any

import pytest

from farhand.app import Channels, Parts
from farhand.channels.telegram.channel import TelegramChannel, TelegramOptions
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.telegram import FakeBot

MANAGER = 4242


class TestTelegram(ChannelContract):
    """The channel over the fake Telegram."""

    @pytest.fixture
    async def channels(self, bot: FakeBot) -> Channels:
        await bot.order("chat", bool, id=MANAGER, type="private", first_name="Mo", topics={})

        def built(parts: Parts) -> list[Any]:
            options = TelegramOptions(
                token=bot.token,
                folder=parts.settings.folder,
                api_url=bot.address,
                admin_chat_id=str(MANAGER),
                chat_burst=100,
            )
            return [TelegramChannel(options, parts.hub, parts.outbox, parts.clock)]

        return built

    @pytest.fixture
    def shown(self, bot: FakeBot) -> Shown:
        async def texts() -> list[str]:
            return [one.text for one in await bot.messages(MANAGER) if one.buzzed and not one.deleted]

        return texts
