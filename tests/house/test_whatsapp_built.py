"""WhatsApp built as a node builds it: out of its variables, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.house.whatsapp_house import NUMBER, person_of

from farhand import roster
from farhand.channels.whatsapp.state_files import WhatsAppState, WhatsAppStored
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.testing.house import open_house
from farhand.testing.whatsapp import FakeWhatsApp

pytestmark = pytest.mark.anyio


async def test_the_variables_are_all_that_whatsapp_needs(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    world = whatsapp.world
    variables = {
        "WHATSAPP_TOKEN": world.token,
        "WHATSAPP_PHONE_ID": world.phone_id,
        "WHATSAPP_APP_SECRET": world.app_secret,
        "WHATSAPP_WABA_ID": world.waba_id,
        "WHATSAPP_MANAGER": f"+{NUMBER}",
        "WHATSAPP_API_URL": f"{whatsapp.address}/",
    }
    manager = person_of(whatsapp)
    built: list[str] = []

    def channels(context: ChannelContext) -> list[Channel]:
        manager.owner.wrote_at = world.now()
        WhatsAppStored(context.folder).keep(WhatsAppState(chat=NUMBER, heard_at=float(int(manager.owner.wrote_at))))
        url = f"http://127.0.0.1:{context.port}"
        found = roster.build_channels(replace(context, variables=variables, public_url=url))
        built.extend(one.name for one in found)
        return found

    async with open_house(tmp_path, clock=SystemClock(), channels=channels) as house:
        await whatsapp.until(lambda: world.callback.endswith(f":{house.node.port}/whatsapp"))
        await house.hire()
        said = manager.says("how is it")
        assert (await manager.reads("answer to how is it")).reply_to == said.id
    assert "whatsapp" in built


async def test_without_a_token_there_is_no_whatsapp(tmp_path: Path) -> None:
    built: list[str] = []

    def channels(context: ChannelContext) -> list[Channel]:
        found = roster.build_channels(replace(context, variables={"WHATSAPP_PHONE_ID": "1"}))
        built.extend(one.name for one in found)
        return found

    async with open_house(tmp_path, channels=channels):
        assert "whatsapp" not in built
