"""Real chat channels beside push, on the clock of the house: the fake Telegram, the fake WhatsApp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.house.telegram_house import MANAGER, telegram_settings
from tests.house.whatsapp_house import NUMBER, person_of, whatsapp_settings

from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.whatsapp.phone_number import WhatsAppChannel
from farhand.channels.whatsapp.state_files import WhatsAppState, WhatsAppStored
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.testing.clock import ManualClock
from farhand.testing.telegram import FakeBot
from farhand.testing.whatsapp import FakeWhatsApp

__all__ = ["MANAGER", "telegram_beside", "whatsapp_beside"]


def telegram_beside(bot: FakeBot) -> Callable[[ChannelContext], Sequence[Channel]]:
    """The Telegram channel of that bot."""
    settings = telegram_settings(bot, admin_chat_id=str(MANAGER), chat_burst=500, poll_seconds=1)
    return lambda context: [TelegramChannel(settings, context)]


def whatsapp_beside(whatsapp: FakeWhatsApp, clock: ManualClock) -> Callable[[ChannelContext], Sequence[Channel]]:
    """The WhatsApp channel of that number, whose manager has just written."""
    whatsapp.world.now = clock.now

    def channels(context: ChannelContext) -> Sequence[Channel]:
        person_of(whatsapp).owner.wrote_at = clock.now()
        WhatsAppStored(context.folder).keep(WhatsAppState(chat=NUMBER, heard_at=clock.now()))
        url = f"http://127.0.0.1:{context.port}"
        return [WhatsAppChannel(whatsapp_settings(whatsapp), replace(context, public_url=url))]

    return channels
