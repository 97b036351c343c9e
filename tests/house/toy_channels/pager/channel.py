"""The pager as a channel: what is posted to `/pager` by whoever knows its secret is heard."""

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
from farhand.channels.kit.chat_channel import ChatChannel
from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.surface import RateLimits
from farhand.channels.kit.who_may_speak import StoredManager, WhoMaySpeak
from farhand.model.body_limits import read_bounded
from farhand.model.channel_ports import Channel, ChannelContext, Manager
from farhand.model.errors import SettingMissing, StoreError, TooLarge
from farhand.model.http_guard import is_secret

LARGEST_POST = 64 * 1024


def build(context: ChannelContext) -> list[Channel]:
    """The pager, if its secret is set."""
    variables = context.variables
    if not (secret := variables.get("PAGER_SECRET", "")):
        return []
    if not (file := variables.get("PAGER_FILE", "")):
        raise SettingMissing("A pager with a secret needs PAGER_FILE, its screen.")
    return [PagerChannel(Path(file), variables.get("PAGER_OWNER", ""), secret, context)]


class PagerChannel(ChatChannel):
    """One pager, one manager, the whole team."""

    name = "pager"

    def __init__(self, file: Path, owner: str, secret: str, context: ChannelContext) -> None:
        surface = PagerSurface(file)
        preset = Manager(chat=owner) if owner else None
        members = WhoMaySpeak(StoredManager(context.managers, self.name, preset))
        self._health = ChatHealth(surface.title, context.clock, context.peers)
        self._health.mode = "posts"
        self._secret = secret
        super().__init__(Chat(ChatParts(surface, members, self._health, RateLimits(chat_burst=1000)), context))

    async def run(self) -> None:
        """Follows and sends until it is cancelled; what is heard comes by the route."""
        async with self._chat.opened():
            await anyio.sleep_forever()

    def public_routes(self) -> Sequence[BaseRoute]:
        """Where its keys are posted, by whoever knows the secret."""
        return [Route("/pager", self._post, methods=["POST"])]

    async def _post(self, request: Request) -> Response:
        if not is_secret(request.headers.get("x-pager-secret", ""), self._secret):
            return Response("Forbidden", 403)
        try:
            post = msgspec.json.decode(await read_bounded(request.stream(), LARGEST_POST), type=PagerPost)
            # A 200 means that it is written down.
            heard = await self._chat.inbound.take(parse(post))
        except TooLarge:
            return Response("Too large", 413)
        except msgspec.MsgspecError:
            return Response("That is no post of a pager.", 400)
        except StoreError as error:
            await self._health.report_problem(f"Messages cannot be written down: {error.text}", "store")
            return Response("Try again", 503)
        await self._health.report_working()
        return Response("OK" if heard else "Who are you?", 200 if heard else 403)
