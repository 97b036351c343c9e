"""How we hear Telegram: our own long poll, or the webhook. An update is written down before it is confirmed."""

from typing import Protocol

import anyio
import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from telegram.error import InvalidToken, TelegramError

from farhand.channels.kit.health import ChatHealth
from farhand.channels.telegram.gateway import ALLOWED_UPDATES, Gateway, ReceiveFailed
from farhand.channels.telegram.parse import update_number
from farhand.channels.telegram.stored import TelegramStored
from farhand.model import road
from farhand.model.bounded import read_bounded
from farhand.model.errors import StoreError, TooLarge
from farhand.model.http_guard import is_secret
from farhand.model.ports import Clock

log = structlog.get_logger("telegram")

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30.0
CHECK_SECONDS = 60.0
LARGEST_UPDATE = 4_000_000
SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105


class TakesUpdates(Protocol):
    """Obeys updates."""

    async def take(self, update: bytes) -> None:
        """Returns when the update is written down, raises StoreError when it could not be."""
        ...


class PollingReceiver:
    """The long poll. Nothing ends it but the node's end: every fault is reported, waited out and retried."""

    def __init__(
        self, gateway: Gateway, inbound: TakesUpdates, health: ChatHealth, clock: Clock, stored: TelegramStored
    ) -> None:
        self._gateway = gateway
        self._inbound = inbound
        self._health = health
        self._clock = clock
        self._stored = stored
        self._offset: int | None = None

    async def run(self) -> None:
        """Polls until it is cancelled."""
        self._health.mode = "polling"
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                # After a failure it is not waited for news: that Telegram answers again is news enough.
                updates = await self._gateway.updates(self._offset, at_once=bool(self._health.problem))
                await self._health.report_working()
                # Everything is confirmed when nothing more comes: an offset that stays would hide lower numbers.
                self._offset = None if not updates else self._offset
                await self._obey(updates)
                pause = FIRST_PAUSE_SECONDS
                continue
            except ReceiveFailed as error:
                await self._handle_failure(error)
            except StoreError as error:
                await self._health.report_problem(f"Updates cannot be written down: {error.text}", "store")
            except Exception as error:
                # A fault that nobody foresaw must not end the polling for ever.
                log.exception("poll failed", error=type(error).__name__)
                await self._health.report_problem(f"An error in farhand itself: {type(error).__name__}.", "bug")
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _obey(self, updates: list[msgspec.Raw]) -> None:
        """Takes updates one by one; the offset moves behind each only once it is written down."""
        for update in updates:
            road.reached("door.received")
            await self._inbound.take(bytes(update))
            self._offset = update_number(update) + 1
            road.reached("door.acknowledged")

    async def _handle_failure(self, error: ReceiveFailed) -> None:
        if error.why != "webhook":
            await self._health.report_problem(error.text, error.why)
            return
        try:
            where = (await self._gateway.bot.get_webhook_info()).url
            if where and where == self._stored.webhook_url():
                # It is the one that this node had set when it ran behind a tunnel.
                await self._gateway.bot.delete_webhook()
                return
        except TelegramError as problem:
            log.info("webhook unknown", error=self._gateway.redacted(problem))
            where = "somewhere"
        await self._health.report_problem(
            f"A webhook is set elsewhere ({host(where)}), so this node hears nothing.", "webhook"
        )


class WebhookReceiver:
    """The webhook: the route that Telegram posts to, and the watch over its being set."""

    def __init__(
        self,
        gateway: Gateway,
        inbound: TakesUpdates,
        health: ChatHealth,
        clock: Clock,
        stored: TelegramStored,
        url: str,
        secret: str,
    ) -> None:
        self._gateway = gateway
        self._inbound = inbound
        self._health = health
        self._clock = clock
        self._stored = stored
        self._url = url.rstrip("/") + "/"
        self._secret = secret
        self._one_at_a_time = anyio.Lock()

    def route(self) -> Route:
        """Where Telegram posts its updates."""
        return Route("/", self.receive, methods=["POST"])

    async def receive(self, request: Request) -> Response:
        """One update: 200 when it is written down, 503 when Telegram shall bring it again."""
        if not is_secret(request.headers.get(SECRET_HEADER, ""), self._secret):
            return Response("Forbidden", 403)
        try:
            body = await read_bounded(request.stream(), LARGEST_UPDATE)
        except TooLarge:
            return Response("Too large", 413)
        road.reached("door.received")
        try:
            async with self._one_at_a_time:
                await self._inbound.take(body)
        except StoreError as error:
            await self._health.report_problem(f"Updates cannot be written down: {error.text}", "store")
            return Response("Try again", 503)
        road.reached("door.acknowledged")
        self._health.received_at = self._clock.now()
        return Response("OK")

    async def run(self) -> None:
        """Checks the webhook every minute until it is cancelled."""
        self._health.mode = "webhook"
        pause = FIRST_PAUSE_SECONDS
        ours = False
        while True:
            try:
                ours = await self._check(ours)
                pause = FIRST_PAUSE_SECONDS
                await self._clock.sleep(CHECK_SECONDS)
            except TelegramError as error:
                await self._unset(error)
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _check(self, ours: bool) -> bool:
        """Sets the webhook, again when it was taken away; one that points elsewhere is reported, not fought."""
        info = await self._gateway.bot.get_webhook_info() if ours else None
        if info is not None and info.url and info.url != self._url:
            sentence = f"The bot's webhook points elsewhere now ({host(info.url)}), so this node hears nothing."
            await self._health.report_problem(sentence, "stolen")
            return True
        if info is None or not info.url:
            await self._set()
        if info is not None and info.last_error_message and info.pending_update_count:
            await self._health.report_problem(
                f"Telegram cannot bring its updates: {info.last_error_message}", "undelivered"
            )
        else:
            await self._health.report_working()
        return True

    async def _set(self) -> None:
        self._stored.keep_webhook_url(self._url)
        await self._gateway.bot.set_webhook(
            self._url, secret_token=self._secret, max_connections=1, allowed_updates=list(ALLOWED_UPDATES)
        )
        log.info("webhook set", host=host(self._url))

    async def _unset(self, error: TelegramError) -> None:
        if isinstance(error, InvalidToken):
            sentence = "Telegram refuses the bot token: set TELEGRAM_BOT_TOKEN to a valid one."
            await self._health.report_problem(sentence, "token")
        else:
            await self._health.report_problem(
                f"The webhook cannot be set: {self._gateway.redacted(error)}", "unreachable"
            )


def host(url: str) -> str:
    """The host of an address: enough to know whose it is, without a path that may hold a secret."""
    return url.rsplit("://", maxsplit=1)[-1].split("/", maxsplit=1)[0].rsplit("@", maxsplit=1)[-1] or "somewhere"
