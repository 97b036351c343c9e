"""WhatsApp keeps the promises of every channel."""

from dataclasses import replace

import pytest
from tests.house.whatsapp_house import NUMBER, person_of, whatsapp_settings

from farhand.app import Channels
from farhand.channels.whatsapp.phone_number import WhatsAppChannel
from farhand.channels.whatsapp.state_files import WhatsAppState, WhatsAppStored
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.whatsapp import FakeWhatsApp


class TestWhatsApp(ChannelContract):
    """The channel over the fake WhatsApp, whose manager wrote a moment ago."""

    @pytest.fixture
    def channels(self, whatsapp: FakeWhatsApp) -> Channels:
        def build(context: ChannelContext) -> list[Channel]:
            person_of(whatsapp).owner.wrote_at = whatsapp.world.now()
            heard = WhatsAppState(chat=NUMBER, heard_at=context.clock.now())
            WhatsAppStored(context.folder).keep(heard)
            url = f"http://127.0.0.1:{context.port}"
            return [WhatsAppChannel(whatsapp_settings(whatsapp), replace(context, public_url=url))]

        return build

    @pytest.fixture
    def shown(self, whatsapp: FakeWhatsApp) -> Shown:
        async def texts() -> list[str]:
            return [one.text for one in person_of(whatsapp).received]

        return texts
