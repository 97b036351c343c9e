"""Web push as a channel: what buzzes in the app goes through the outbox to every device that subscribed."""

from functools import cached_property
from typing import TYPE_CHECKING

import anyio

from farhand.channels.kit.outbox import Dispatcher, SendLater, SendRefused, SendUncertain
from farhand.channels.push import button_tokens
from farhand.channels.push.notification import (
    ASKS_TAG,
    bundle_settled_payload,
    open_payload,
    settled_payload,
    tag_of,
    test_payload,
)
from farhand.channels.push.settings import PushSettings, read_settings
from farhand.channels.push.stored_message import PushMessage, decode_message, encode_message
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import APP, AskBundle, Buzz, WaitingAsk
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Answer
from farhand.model.devices import Device
from farhand.model.errors import BadInput, NotAllowed, UnknownAsk
from farhand.model.facts import AskSettled
from farhand.model.logger import get_logger
from farhand.model.matters import waiting_asks
from farhand.model.phrases import phrase, said
from farhand.model.present import Ask, Present
from farhand.model.push import PushAnswer, PushSubscription, PushTest, problem_of
from farhand.model.store_ports import Parcel, Waiting
from farhand.model.words import Phrase, Sender, replace

if TYPE_CHECKING:
    from farhand.channels.push.keys import NodeKeys
    from farhand.channels.push.sender import PushReply, PushSender

log = get_logger("push")
NAME = "push"
# How long a service keeps what it cannot deliver: an ask for as long as it may wait, the rest while it is news.
ASK_SECONDS, NEWS_SECONDS = 24 * 3600, 4 * 3600


def build(context: ChannelContext) -> list[Channel]:
    """The one channel of push: every node has it, and it costs nothing until a device subscribes."""
    return [PushChannel(read_settings(context.variables), context)]


class PushChannel:
    """Reaches the phone app of devices that may be asleep."""

    name = NAME

    def __init__(self, settings: PushSettings, context: ChannelContext) -> None:
        self._settings = settings
        self._context = context
        self._opened: PushSender | None = None
        self._dispatcher = Dispatcher(NAME, context.outbox, self._send, context.clock)
        self._problems: dict[str, str] = {}

    async def run(self) -> None:
        """Sends until it is cancelled."""
        try:
            await self._dispatcher.run()
        finally:
            if self._opened is not None:
                with anyio.CancelScope(shield=True):
                    await self._opened.close()

    # What only a device needs that subscribes, cryptography and an HTTP client, is loaded for the first of them.

    @cached_property
    def _keys(self) -> "NodeKeys":
        from farhand.channels.push.keys import node_keys

        return node_keys(self._context.folder)

    @property
    def _sender(self) -> "PushSender":
        from farhand.channels.push.sender import PushSender

        if self._opened is None:
            self._opened = PushSender(self._keys.vapid, self._settings.contact, self._context.clock)
        return self._opened

    @property
    def health(self) -> str:
        """One line for `status`."""
        count = len(self._context.push.all())
        wrong = f", trouble with {len(self._problems)}" if self._problems else ""
        return f"{count} {'device' if count == 1 else 'devices'}{wrong}"

    async def announce(self, text: str) -> None:
        """Something about the node itself: the rules say whether it buzzes."""
        self._context.attention.tell(text)

    # --- what buzzes

    @property
    def can_buzz(self) -> bool:
        """Whether a device can be reached that may answer: one that only looks takes nothing away from the chats."""
        return any(not one.read_only for one in self._context.push.all())

    @property
    def can_show(self) -> bool:
        """Whether any device can be reached."""
        return bool(self._context.push.all())

    async def buzz(self, buzz: Buzz) -> None:
        """Brings a notification to every device; the outbox deduplicates it by its key."""
        present = await self._context.hub.look()
        asks = tuple(one.key.removeprefix("ask:") for one in buzz.shown if one.kind is AttentionKind.ASK)
        urgent = bool(asks) or buzz.matters[0].kind is not AttentionKind.FINISHED
        parcels = []
        for to in self._context.push.all():
            message = PushMessage(
                body=self._body(buzz, to, present).decode(),
                topic=tag_of(buzz),
                ttl_seconds=ASK_SECONDS if asks else NEWS_SECONDS,
                urgent=urgent,
                asks=asks,
            )
            parcels.append(_parcel(f"{buzz.key}:{to.device}", to.device, message))
        await self._put(parcels)

    def _body(self, buzz: Buzz, to: PushSubscription, present: Present, *, silent: bool = False) -> bytes:
        now = self._context.clock.now()

        def sign(about: Ask, choice: str) -> str:
            return button_tokens.token_for(self._keys.actions, to.device, about, choice, now)

        badge, shows = waiting_asks(present), present.attention.lock_screen
        ask = _open_ask(present, buzz)
        return open_payload(buzz, to, ask, badge=badge, shows=shows, sign=sign, silent=silent)

    async def bundle_left(self, bundle: AskBundle) -> None:
        """Shows what is left of a notification of several asks, without a sound, on every device: whoever answered one
        of them has the others before them still."""
        present = await self._context.hub.look()
        shown = Buzz(place=APP, matters=bundle.matters, several=True)
        asks = tuple(one.key.removeprefix("ask:") for one in bundle.matters)
        parcels = []
        for to in self._context.push.all():
            body = (
                self._body(shown, to, present, silent=True)
                if asks
                else bundle_settled_payload(to, badge=waiting_asks(present))
            )
            # At the service only the end of all takes the place of what was not delivered: that has a sound.
            topic, seconds = (f"{ASKS_TAG}:left", ASK_SECONDS) if asks else (ASKS_TAG, NEWS_SECONDS)
            message = PushMessage(body=body.decode(), topic=topic, ttl_seconds=seconds, asks=asks)
            parcel = _parcel(f"{bundle.key}:left{len(asks)}:{to.device}", to.device, message)
            # In the lane of what it changes, and so after it.
            parcels.append(replace(parcel, urgent=True))
        await self._put(parcels)

    async def settled(self, ask: WaitingAsk, fact: AskSettled | None) -> None:
        """An ask that buzzed alone is over: what takes its notification's place says so, and makes no sound."""
        present = await self._context.hub.look()
        by = fact.by.via if fact and fact.by else ""
        outcome = _outcome(fact)
        parcels = [
            _parcel(
                f"{ask.matter.key}:settled:{to.device}",
                to.device,
                PushMessage(
                    body=settled_payload(
                        ask.matter, to, outcome, badge=waiting_asks(present), shows=present.attention.lock_screen
                    ).decode(),
                    topic=ask.matter.key,
                    ttl_seconds=NEWS_SECONDS,
                ),
            )
            # Whoever answered has seen to it there.
            for to in self._context.push.all()
            if by != f"web-{to.device}"
        ]
        await self._put(parcels)

    async def _put(self, parcels: list[Parcel]) -> None:
        if parcels:
            await self._context.outbox.put(NAME, parcels)
            self._dispatcher.wake()

    async def _send(self, waiting: Waiting) -> str:
        """Sends one parcel; what its service answers decides whether it is tried again."""
        import httpx2

        message, device = decode_message(waiting.parcel.body), waiting.parcel.chat
        to = self._subscription(device)
        if to is None:
            raise SendRefused("The device has no subscription any more.")
        if message.asks and await self._are_settled(message.asks):
            raise SendRefused("The question is settled.")
        try:
            reply = await self._post(to, message)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._problems[device] = f"{to.service} cannot be reached: {error}"
            raise SendLater(self._problems[device]) from None
        except httpx2.HTTPError as error:
            raise SendUncertain(f"{to.service} did not answer: {error}") from None
        except ValueError as error:
            raise SendRefused(f"The keys of the subscription are none: {error}") from None
        return await self._judge(reply, to)

    async def _post(self, to: PushSubscription, message: PushMessage) -> "PushReply":
        return await self._sender.send(
            to, message.body.encode(), ttl_seconds=message.ttl_seconds, urgent=message.urgent, topic=message.topic
        )

    async def _judge(self, reply: "PushReply", to: PushSubscription) -> str:
        from farhand.channels.push.sender import explain

        if reply.taken:
            self._problems.pop(to.device, None)
            return str(reply.status)
        problem = self._problems[to.device] = explain(reply, to, self._settings.contact)
        if reply.gone:
            await self._context.push.remove(to.device, to.endpoint)
            log.info("subscription gone", device=to.device, service=to.service)
        if reply.status == 429 or reply.status >= 500:
            raise SendLater(problem, reply.retry_after)
        raise SendRefused(problem)

    def _subscription(self, device: str) -> PushSubscription | None:
        return next((one for one in self._context.push.all() if one.device == device), None)

    async def _are_settled(self, asks: tuple[str, ...]) -> bool:
        present = await self._context.hub.look()
        found = (present.ask(ask) for ask in asks)
        return all(one is None or one.settled is not None for one in found)

    # --- what devices ask (`ServesPush`)

    def public_key(self) -> str:
        """The node's key, by which a push service knows it."""
        return self._keys.public

    def problem(self, device: str) -> str:
        """What went wrong with the last message to that device."""
        return self._problems.get(device, "")

    def subscribed(self, device: str) -> bool:
        """Whether the device can be reached."""
        return self._subscription(device) is not None

    def language(self, device: str) -> str:
        """In which language the device is spoken to; empty where it is not reached."""
        found = self._subscription(device)
        return found.language if found else ""

    async def subscribe(self, subscription: PushSubscription) -> None:
        """Reaches the device there from now on."""
        if problem := problem_of(subscription, self._settings.services):
            raise BadInput(problem)
        await self._context.push.keep(subscription)
        self._problems.pop(subscription.device, None)
        self._context.attention.device_added()
        log.info("subscribed", device=subscription.device, service=subscription.service)

    async def unsubscribe(self, device: str) -> None:
        """Leaves the device in peace."""
        await self._context.push.remove(device)
        self._problems.pop(device, None)

    async def test(self, device: str) -> PushTest:
        """Sends a notification at once, past the queue, and tells what became of it."""
        import httpx2

        to = self._subscription(device)
        if to is None:
            return outcome(phrase("push_not_subscribed"))
        try:
            message = PushMessage(body=test_payload(to).decode(), topic="test", ttl_seconds=60, urgent=True)
            reply = await self._post(to, message)
        except (httpx2.HTTPError, ValueError) as error:
            return outcome(phrase("push_unreachable", service=to.service, why=repr(error)))
        try:
            await self._judge(reply, to)
        except (SendLater, SendRefused) as error:
            return PushTest(ok=False, text=error.text)
        return outcome(phrase("push_taken", service=to.service), ok=True)

    async def answer(self, answer: PushAnswer, device: Device) -> None:
        """Settles the ask with what was tapped; stale, used and foreign buttons are refused."""
        ask = (await self._context.hub.look()).ask(answer.ask)
        if ask is None:
            raise UnknownAsk(answer.ask)
        button_tokens.check(self._keys.actions, answer, device.id, ask, self._context.clock.now())
        command = Answer(id=button_tokens.command_id(answer), ask=answer.ask, choice=answer.choice)
        accepted = await self._context.hub.send(command, Sender(via=device.via, who=device.name))
        if accepted.again:
            raise NotAllowed("That button was used before.", device=device.id)


def _open_ask(present: Present, buzz: Buzz) -> Ask | None:
    """The open ask that the notification is about, if it is about one."""
    one = buzz.shown[0]
    if len(buzz.shown) > 1 or one.kind is not AttentionKind.ASK:
        return None
    found = present.ask(one.key.removeprefix("ask:"))
    return found if found is not None and found.settled is None else None


def _outcome(fact: AskSettled | None) -> str:
    if fact is None:
        return ""
    by = f" ({fact.by.who or fact.by.via})" if fact.by else ""
    return f"{fact.choice or fact.how}{by}"


def _parcel(key: str, device: str, message: PushMessage) -> Parcel:
    return Parcel(key=key, chat=device, body=encode_message(message), urgent=message.urgent)


def outcome(told: Phrase, *, ok: bool = False) -> PushTest:
    """What became of a test."""
    return PushTest(ok=ok, text=said(told), phrase=told)
