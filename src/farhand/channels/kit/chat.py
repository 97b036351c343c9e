"""What every text chat is made of, so that a new one is a surface (gateway, parse, render, words) and its settings.

- `kit/surface.py`: what the chat service must be able to do, and its messages and taps in common words
- `kit/who_may_speak.py`: whose messages are obeyed
- `kit/inbound.py`: message or tap → command → reply (`kit/taps.py`, `kit/inbox.py`)
- `kit/outbound.py`: event → cards → outbox → send (`kit/fact_cards.py`, `kit/progress.py`, `kit/typing.py`)
- `kit/health.py`: whether the service can be heard
"""

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio

from farhand.channels.kit import texts
from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import plain_notice, removal
from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.inbound import Inbound
from farhand.channels.kit.long_answers import AnswerLimits
from farhand.channels.kit.nudges import bundle_slot, left_card, nudge_card, nudge_slot
from farhand.channels.kit.outbound import Outbound
from farhand.channels.kit.surface import ChatSurface, KnowsManager, RateLimits, SeesEvents
from farhand.channels.kit.texts import About
from farhand.channels.kit.who_may_speak import WhoMaySpeak
from farhand.model.attention_rules import AskBundle, Buzz
from farhand.model.channel_ports import ChannelContext, ReceiveStatus
from farhand.model.errors import StoreError
from farhand.model.grammar import OPEN_CHAT
from farhand.model.logger import get_logger
from farhand.model.slash import Surface
from farhand.model.store_ports import Parcel

log = get_logger("chat")


@dataclass(frozen=True)
class ChatParts:
    """What a chat is put together from; each chat service brings its own."""

    surface: ChatSurface
    members: WhoMaySpeak
    health: ChatHealth
    limits: RateLimits = field(default_factory=RateLimits)
    # What `/settings` says of the chat.
    about: Callable[[], About] | None = None
    background: BackgroundJobs = field(default_factory=BackgroundJobs)
    observers: Sequence[SeesEvents] = ()
    # For a chat that can take files: how much of an answer is text.
    answers: AnswerLimits | None = None
    # Whether the surface itself shows how to become the manager, as soon as it knows a link for that.
    link_follows: bool = False
    # For a chat where every message costs: the node's coming and going is not told to a manager who knows it.
    quiet: bool = False
    # Whether the team is shown with a button for each worker.
    team_buttons: bool = False
    # Which slash commands there are, and which of the agents' own are refused.
    slashes: Surface = OPEN_CHAT


class Chat:
    """One chat service as a channel: hears the manager, follows the journal, and keeps the chat true."""

    def __init__(self, parts: ChatParts, context: ChannelContext) -> None:
        self._parts = parts
        self._context = context
        self._outbound = Outbound(parts.surface, context, parts.members, parts.limits, parts.observers, parts.answers)
        about = parts.about or partial(about_chat, context, parts.members)
        bot = Bot(
            context.hub,
            about,
            parts.slashes,
            devices=context.devices,
            attention=context.attention,
            way_in=lambda: context.way_in,
            can=context.can,
        )
        # What takes messages and taps; the surface calls it.
        self.inbound = Inbound(
            parts.surface,
            context,
            parts.members,
            bot,
            self._outbound,
            parts.background,
            parts.slashes,
            greets=not parts.quiet or not parts.members.chat,
            team_buttons=parts.team_buttons,
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Follows and sends as long as the block runs; what comes in is brought to `inbound.take` meanwhile."""
        async with self._parts.background.opened(), anyio.create_task_group() as tasks:
            self._outbound.start(tasks)
            if not self._parts.link_follows:
                self._parts.members.show_code()
            await self.inbound.greet()
            await self.inbound.fetch_left_behind()
            await self._tell_former()
            yield
            tasks.cancel_scope.cancel()

    async def _tell_former(self) -> None:
        """Tells whoever was the manager before that somebody else is, or nobody."""
        members, managers, name = self._parts.members, self._context.managers, self._parts.surface.name
        log.info("manager", channel=name, chat=members.chat, person=members.manager.person, name=members.manager.name)
        if former := managers.former_chat(name):
            notice = plain_notice(f"former:{former}:{self._context.clock.now()}", texts.former(members.manager))
            try:
                await self._outbound.queue.show(notice, former)
                managers.former_told(name)
            except StoreError as error:
                log.error("the former manager was not told", error=error.text)

    @property
    def health(self) -> str:
        """One line for `status`."""
        return self._parts.health.line()

    @property
    def receive_status(self) -> ReceiveStatus:
        """Whether the chat is heard."""
        return self._parts.health.receive_status()

    @property
    def manager_chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        return self._parts.members.chat

    async def drain(self) -> None:
        """Sends everything that waits, and then says that the node goes: at once or never, for nobody wants to read
        it after the node is back."""
        await self._outbound.drain()
        if not self._parts.quiet and self.manager_chat and not self._parts.health.problem:
            await self._parts.surface.send_now(self.manager_chat, texts.OFFLINE)

    async def find(self, reference: str) -> Parcel | None:
        """The parcel of one of our messages to the manager, by what the surface calls it; None for any other."""
        return await self._outbound.find(self.manager_chat, reference)

    async def put(self, parcels: Sequence[Parcel]) -> None:
        """Puts parcels into the outbox that are no card's."""
        await self._context.outbox.put(self._parts.surface.outbox, parcels)
        self._outbound.wake()

    def release(self) -> None:
        """The surface takes messages to the manager again: what waits for that goes now."""
        self._outbound.release(self.manager_chat)

    async def announce(self, text: str) -> None:
        """Tells the manager something about the node itself, unless the surface is out of reach."""
        if self._parts.health.can_speak:
            await self._outbound.queue.show(plain_notice(f"announce:{self._context.clock.now()}", text))

    async def notify(self, text: str) -> None:
        """Brings something to the manager, as soon as the surface can be reached."""
        await self._outbound.queue.show(plain_notice(f"notify:{uuid.uuid4().hex}", text))

    async def nudge(self, buzz: Buzz) -> None:
        """Reminds the manager of what was shown before without a sound."""
        await self._outbound.queue.show(nudge_card(buzz, self._context.way_in))
        if buzz.replaces:
            await self._outbound.queue.show(removal(bundle_slot(buzz.replaces)))

    async def withdraw_nudges(self, ask: str, steps: Sequence[int]) -> None:
        """Takes away what was said in these steps; the first of them may have been the question itself."""
        for step in steps:
            await self._outbound.queue.show(removal(nudge_slot(ask, step)))

    async def bundle_left(self, bundle: AskBundle) -> None:
        """Says what is left of a reminder of several questions, or takes it away."""
        await self._outbound.queue.show(left_card(bundle, self._context.way_in))


def about_chat(context: ChannelContext, members: KnowsManager) -> About:
    """What `/settings` says of every chat."""
    storage = str(context.sessions.parent)
    return About(
        version=context.version,
        admin=members.chat,
        storage=storage,
        terminals=context.terminals,
        sandbox=context.sandbox,
    )
