"""How we hear WhatsApp: the webhook that Meta verifies and posts to. A message is written down before its 200."""

import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Protocol

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from farhand.channels.kit.health import ChatHealth
from farhand.channels.whatsapp.parse import ReceivedMessage, ReceivedPost, read_post
from farhand.channels.whatsapp.words import WhatsAppStatus
from farhand.model import road
from farhand.model.body_limits import BodyBudget, read_bounded
from farhand.model.errors import BadInput, StoreError, TooBusy, TooLarge
from farhand.model.http_guard import is_secret
from farhand.model.logger import get_logger

log = get_logger("whatsapp")
LARGEST_POST = 4_000_000
# Anybody can post here: of bodies that are larger than nearly all of Meta's, a few are held at once.
SMALL_POST = 16 * 1024
LARGE_POSTS_HELD = 4 * LARGEST_POST
_SIGNATURE = re.compile(r"sha256=[0-9a-fA-F]{64}", re.ASCII)
LONGEST_CHALLENGE = 200
SIGNATURE_HEADER = "x-hub-signature-256"
NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


class TakesMessages(Protocol):
    """Obeys what WhatsApp brings."""

    async def take(self, received: ReceivedMessage) -> None:
        """Returns when the message is written down, raises StoreError when it could not be."""
        ...

    async def told(self, status: WhatsAppStatus) -> None:
        """What became of one of our messages."""
        ...


def is_signed(body: bytes, signature: str, app_secret: str) -> bool:
    """Whether Meta signed exactly this. Compared as bytes: what a stranger sends need not be ASCII."""
    wanted = f"sha256={hmac.new(app_secret.encode(), body, hashlib.sha256).hexdigest()}"
    return bool(app_secret) and hmac.compare_digest(wanted.encode(), signature.strip().encode())


class WhatsAppWebhook:
    """The route that Meta calls: to verify it once, and with every message."""

    def __init__(
        self, inbound: TakesMessages, health: ChatHealth, phone_id: str, app_secret: str, verify_token: str
    ) -> None:
        self._inbound = inbound
        self._health = health
        self._phone_id = phone_id
        self._app_secret = app_secret
        self._verify_token = verify_token
        self._one_at_a_time = anyio.Lock()
        self._large = BodyBudget(LARGE_POSTS_HELD, LARGE_POSTS_HELD, free=SMALL_POST)

    def routes(self) -> list[Route]:
        """Where Meta verifies and posts."""
        return [
            Route("/whatsapp", self.verify, methods=["GET"]),
            Route("/whatsapp", self.receive, methods=["POST"]),
        ]

    async def verify(self, request: Request) -> Response:
        """Meta's question whether this address is ours: the challenge back, to whoever knows the token."""
        query = request.query_params
        challenge = query.get("hub.challenge", "")
        known = is_secret(query.get("hub.verify_token", ""), self._verify_token)
        if not known or query.get("hub.mode") != "subscribe" or not challenge.isascii():
            return Response("Forbidden", 403)
        return PlainTextResponse(challenge[:LONGEST_CHALLENGE], headers=NO_SNIFFING)

    async def receive(self, request: Request) -> Response:
        """One post: 200 when all of it is written down, 503 when Meta shall bring it again, 403 unless Meta signed."""
        signature = request.headers.get(SIGNATURE_HEADER, "").strip()
        if not _SIGNATURE.fullmatch(signature):
            return _unsigned()
        if _declared(request) > LARGEST_POST:
            return Response("Too large", 413)
        with self._large.holding() as take:
            return await self._read(request, signature, take)

    async def _read(self, request: Request, signature: str, take: Callable[[int], None]) -> Response:
        try:
            body = await read_bounded(request.stream(), LARGEST_POST, take=take)
        except TooLarge:
            return Response("Too large", 413)
        except TooBusy:
            return Response("Try again", 503)
        if not is_signed(body, signature, self._app_secret):
            return _unsigned()
        road.reached("door.received")
        try:
            post = read_post(body, self._phone_id)
        except BadInput as error:
            return Response(error.text, 400)
        try:
            async with self._one_at_a_time:
                await self._obey(post)
        except StoreError as error:
            await self._health.report_problem(f"Messages cannot be written down: {error.text}", "store")
            return Response("Try again", 503)
        road.reached("door.acknowledged")
        await self._health.report_working()
        return Response("OK")

    async def _obey(self, post: ReceivedPost) -> None:
        if post.unread:
            log.warning("pieces of a post could not be read", pieces=post.unread)
        for received in post.messages:
            await self._inbound.take(received)
        for status in post.statuses:
            await self._inbound.told(status)


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _unsigned() -> Response:
    log.warning("post without Meta's signature refused")
    return Response("Forbidden", 403)
