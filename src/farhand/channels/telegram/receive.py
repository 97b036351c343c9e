"""How we hear Telegram: our own long poll, or the webhook. An update is written down before it is confirmed."""

from dataclasses import dataclass
from typing import Protocol

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from telegram.error import BadRequest, InvalidToken, TelegramError

from farhand.channels.kit.health import ChatHealth
from farhand.channels.telegram.gateway import ALLOWED_UPDATES, Gateway, ReceiveFailed
from farhand.channels.telegram.parse import update_number
from farhand.channels.telegram.state_files import TelegramStored
from farhand.model import road
from farhand.model.body_limits import read_bounded
from farhand.model.errors import StoreError, TooLarge
from farhand.model.http_guard import is_secret
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

log = get_logger("telegram")

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30.0
# How often it is proven that the webhook is heard, and how soon again when updates wait at Telegram.
CHECK_SECONDS = 30.0
AGAIN_SECONDS = 10.0
# A fresh address is not known to Telegram at once.
MOST_REFUSALS = 7
REFUSED_PAUSE_SECONDS = 1.5
# How often a poll is looked at, and how many looks one without waiting and one without end may take.
LOOK_SECONDS = 10.0
AT_ONCE_LOOKS = 3
STUCK_LOOKS = 6
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
        # What it does now, and at how many looks it did that.
        self._doing: anyio.CancelScope | None = None
        self._most_looks = 0
        self._looks = 0
        self._silent_since: float | None = None

    async def run(self) -> None:
        """Polls until it is cancelled, and sees to it that no poll hangs."""
        self._health.mode = "polling"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, name="hearing test")
            await self._poll()

    async def _watch(self) -> None:
        """The hearing test: a poll that does not come back is made anew; an update that is stuck is told.

        It counts its own looks, so that a machine that slept has not been deaf."""
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            self._looks += 1
            if self._doing is not None and self._looks > self._most_looks:
                self._silent_since = self._clock.now() - self._looks * LOOK_SECONDS
                self._doing.cancel()
            elif self._doing is None and self._looks > STUCK_LOOKS:
                since = self._clock.now() - self._looks * LOOK_SECONDS
                await self._health.report_problem("An update is taken and not written down.", "stuck", since)
            await self._health.tell_if_lasting()

    async def _ask(self) -> list[msgspec.Raw]:
        """Waits for updates; after a failure it is not waited for news: that Telegram answers again is news enough."""
        at_once = bool(self._health.problem)
        self._most_looks = AT_ONCE_LOOKS if at_once else self._gateway.poll_looks(LOOK_SECONDS)
        self._looks, self._silent_since = 0, None
        try:
            with anyio.CancelScope() as self._doing:
                return await self._gateway.updates(self._offset, at_once=at_once)
        finally:
            self._doing, self._looks = None, 0
        raise ReceiveFailed("Telegram cannot be reached: no answer in time", "unreachable")

    async def _poll(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                updates = await self._ask()
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
            self._looks = 0
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _obey(self, updates: list[msgspec.Raw]) -> None:
        """Takes updates one by one; the offset moves behind each only once it is written down."""
        for update in updates:
            road.reached("door.received")
            self._looks = 0
            await self._inbound.take(bytes(update))
            self._offset = update_number(update) + 1
            road.reached("door.acknowledged")

    async def _handle_failure(self, error: ReceiveFailed) -> None:
        if error.why != "webhook":
            await self._health.report_problem(error.text, error.why, self._silent_since)
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
            f"A webhook is set elsewhere ({host(where)}), so this node hears nothing. "
            "If nobody needs it any more: farhand webhook delete",
            "webhook",
        )


@dataclass(frozen=True)
class WebhookSeen:
    """What was seen of the webhook at one look: how many updates wait at Telegram, how many have come here."""

    pending: int
    taken: int


def is_deaf(before: WebhookSeen | None, now: WebhookSeen) -> bool:
    """Whether updates wait between two looks and none of them comes."""
    return before is not None and before.pending > 0 and now.pending >= before.pending and now.taken == before.taken


class WebhookReceiver:
    """The webhook: the route that Telegram posts to, and the proof that Telegram gets there."""

    def __init__(
        self,
        gateway: Gateway,
        inbound: TakesUpdates,
        health: ChatHealth,
        clock: Clock,
        stored: TelegramStored,
        secret: str,
    ) -> None:
        self._gateway = gateway
        self._inbound = inbound
        self._health = health
        self._clock = clock
        self._stored = stored
        self._secret = secret
        self._url = ""
        self._taken = 0
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
        self._taken += 1
        self._health.received_at = self._clock.now()
        return Response("OK")

    async def run(self, url: str) -> str:
        """Keeps the webhook at that address until it is cancelled; returns why when Telegram does not get there."""
        self._health.mode = "webhook"
        self._url = url.rstrip("/") + "/"
        if why := await self._set_up():
            return why
        before: WebhookSeen | None = None
        attempts, error_message = 0, "nothing arrives"
        while True:
            await self._clock.sleep(AGAIN_SECONDS if before and before.pending else CHECK_SECONDS)
            try:
                info = await self._gateway.bot.get_webhook_info()
                if not await self._is_ours(info.url):
                    before = None
                    continue
                now = WebhookSeen(info.pending_update_count, self._taken)
                if not is_deaf(before, now):
                    await self._report(now, info.last_error_message or "")
                    before, attempts = now, 0 if not now.pending else attempts
                    continue
                # Telegram forgets what went wrong when the webhook is set again.
                error_message = info.last_error_message or error_message
                why = f"Telegram cannot bring its updates: {error_message}"
                await self._health.report_problem(why, "undelivered")
                if attempts:
                    return why
                before, attempts = now, attempts + 1
                await self._set()
            except TelegramError as error:
                await self._unset(error)

    async def _is_ours(self, url: str) -> bool:
        """Whether the webhook is where it was set; one that was taken away is set again, one that points elsewhere is
        reported and not fought."""
        if not url:
            await self._set()
        elif url != self._url:
            sentence = f"The bot's webhook points elsewhere now ({host(url)}), so this node hears nothing."
            await self._health.report_problem(sentence, "stolen")
            return False
        return True

    async def _report(self, now: WebhookSeen, error: str) -> None:
        if now.pending and error:
            await self._health.report_problem(f"Telegram cannot bring its updates: {error}", "undelivered")
        else:
            await self._health.report_working()

    async def _set_up(self) -> str:
        """Sets the webhook, however long Telegram is out of reach; returns why when it refuses the address."""
        pause = FIRST_PAUSE_SECONDS
        refusals = 0
        while True:
            try:
                await self._set()
                await self._health.report_working()
                return ""
            except TelegramError as error:
                await self._unset(error)
                refusals += isinstance(error, BadRequest)
                if refusals >= MOST_REFUSALS:
                    return f"Telegram refuses it as a webhook: {self._gateway.redacted(error)}"
                await self._clock.sleep(max(pause, REFUSED_PAUSE_SECONDS * refusals))
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

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
            why = "refused" if isinstance(error, BadRequest) else "unreachable"
            await self._health.report_problem(f"The webhook cannot be set: {self._gateway.redacted(error)}", why)


def host(url: str) -> str:
    """The host of an address: enough to know whose it is, without a path that may hold a secret."""
    return url.rsplit("://", maxsplit=1)[-1].split("/", maxsplit=1)[0].rsplit("@", maxsplit=1)[-1] or "somewhere"
