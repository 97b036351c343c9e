"""A house whose manager is on WhatsApp: the node and the fake WhatsApp in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from farhand.channels.kit.surface import RateLimits
from farhand.channels.whatsapp.phone_number import WhatsAppChannel
from farhand.channels.whatsapp.settings import WhatsAppIdentity, WhatsAppSettings
from farhand.channels.whatsapp.state_files import WhatsAppState, WhatsAppStored
from farhand.core.clock import SystemClock
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.ports import Deliver, Hub
from farhand.model.voice import Transcriber
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.whatsapp import FakeWhatsApp, PhonePerson

NUMBER, BSUID = "4915100000001", "DE.8001"


class WhatsAppHouse:
    """The house, WhatsApp as it sees itself, and the manager."""

    def __init__(self, house: House, whatsapp: FakeWhatsApp, manager: PhonePerson, shown: list[str]) -> None:
        self.house = house
        self.agent = house.agent
        self.whatsapp = whatsapp
        self.manager = manager
        # What the node showed at its terminal.
        self.shown = shown

    @property
    def health(self) -> str:
        return str(self.house.node.status()["channels"]["whatsapp"])

    @property
    def delivered(self) -> list[str]:
        """What workers were told."""
        return [errand.message.text for _, errand in self.agent.performed if isinstance(errand, Deliver)]


def whatsapp_settings(whatsapp: FakeWhatsApp, **options: Any) -> WhatsAppSettings:
    """The settings of that number; its manager is known by number unless told otherwise."""
    world = whatsapp.world
    usual: dict[str, Any] = {"manager": WhatsAppIdentity(number=NUMBER), "limits": RateLimits(chat_burst=1000)}
    return WhatsAppSettings(
        token=world.token,
        phone_id=world.phone_id,
        app_secret=world.app_secret,
        waba_id=world.waba_id,
        api_url=whatsapp.address,
        **{**usual, **options},
    )


def person_of(whatsapp: FakeWhatsApp) -> PhonePerson:
    """The manager's phone, the same one after a restart."""
    known = [one for one in whatsapp.world.people if one.number == NUMBER]
    return PhonePerson(whatsapp, known[0]) if known else whatsapp.person(NUMBER, BSUID)


@asynccontextmanager
async def whatsapp_house(
    folder: Path,
    whatsapp: FakeWhatsApp,
    *,
    agent: ScriptedDriver | None = None,
    voice: Transcriber | None = None,
    wrote_ago: float = 0.0,
    hub: Callable[[Hub], Any] = lambda hub: hub,
    **options: Any,
) -> AsyncIterator[WhatsAppHouse]:
    """A house on WhatsApp, whose manager wrote so long ago; opened again in the same folder, it is the same node after
    a restart."""
    shown: list[str] = []

    def channels(context: ChannelContext) -> list[Channel]:
        if not manager.owner.wrote_at:
            manager.owner.wrote_at = whatsapp.world.now() - wrote_ago
            WhatsAppStored(context.folder).keep(WhatsAppState(chat=NUMBER, heard_at=float(int(manager.owner.wrote_at))))
        context.peers.show_at_terminal = shown.append  # type: ignore[method-assign,assignment]
        url = f"http://127.0.0.1:{context.port}"
        given = replace(context, public_url=url, voice=voice, hub=hub(context.hub))
        return [WhatsAppChannel(whatsapp_settings(whatsapp, **options), given)]

    manager = person_of(whatsapp)
    async with open_house(folder, agent, SystemClock(), channels) as house:
        await whatsapp.until(lambda: whatsapp.world.callback.endswith(f":{house.node.port}/whatsapp"))
        yield WhatsAppHouse(house, whatsapp, manager, shown)
