"""The pager as a channel: what is posted to `/pager` is heard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from tests.house.toy_channels.pager.surface import PagerSurface
from tests.house.toy_channels.pager.words import PagerPost, parse

from farhand.channels.kit.chat import Chat, ChatParts
from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.surface import RateLimits
from farhand.channels.kit.who_may_speak import StoredManager, WhoMaySpeak
from farhand.model.channel_ports import Channel, ChannelContext, Manager


def build(context: ChannelContext) -> list[Channel]:
    file = context.variables.get("PAGER_FILE", "")
    return [PagerChannel(Path(file), context.variables.get("PAGER_OWNER", ""), context)] if file else []


class PagerChannel:
    name = "pager"

    def __init__(self, file: Path, owner: str, context: ChannelContext) -> None:
        surface = PagerSurface(file)
        preset = Manager(chat=owner) if owner else None
        members = WhoMaySpeak(StoredManager(context.managers, self.name, preset))
        health = ChatHealth(surface.title, context.clock, context.peers)
        self._chat = Chat(ChatParts(surface, members, health, RateLimits(chat_burst=1000)), context)

    async def run(self) -> None:
        async with self._chat.opened():
            await anyio.sleep_forever()

    def public_routes(self) -> Sequence[BaseRoute]:
        return [Route("/pager", self._post, methods=["POST"])]

    async def _post(self, request: Request) -> Response:
        heard = await self._chat.inbound.take(parse(msgspec.json.decode(await request.body(), type=PagerPost)))
        return Response("OK" if heard else "Who are you?", 200 if heard else 403)

    @property
    def health(self) -> str:
        return self._chat.health

    @property
    def manager_chat(self) -> str:
        return self._chat.manager_chat

    async def notify(self, text: str) -> None:
        await self._chat.notify(text)

    async def announce(self, text: str) -> None:
        await self._chat.announce(text)

    async def drain(self) -> None:
        await self._chat.drain()
