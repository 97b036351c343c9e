"""From events to messages: lays facts out as cards, puts them into the outbox and sends them at the surface's pace."""

from collections.abc import Sequence

import anyio.abc

from farhand.channels.kit.card import Card, cards, plain_notice
from farhand.channels.kit.follow import JournalFollower
from farhand.channels.kit.outbox import Dispatcher
from farhand.channels.kit.pace import Pace
from farhand.channels.kit.progress import Progress
from farhand.channels.kit.surface import ChatSurface, KnowsManager, RateLimits, SeesEvents
from farhand.channels.kit.tags import split_off_files
from farhand.channels.kit.typing import TypingIndicator
from farhand.model.channel_ports import ChannelContext
from farhand.model.facts import Event
from farhand.model.ports import Parcel, Waiting
from farhand.model.view import TurnView

LOST = "lost:"


class Outbound:
    """Everything that a chat shows the manager."""

    def __init__(
        self,
        surface: ChatSurface,
        context: ChannelContext,
        manager: KnowsManager,
        limits: RateLimits,
        observers: Sequence[SeesEvents] = (),
    ) -> None:
        self._surface = surface
        self._outbox = context.outbox
        self._manager = manager
        pace = Pace(context.clock, per_chat=limits.chat_per_second, burst=limits.chat_burst, overall=limits.per_second)
        self._dispatcher = Dispatcher(
            surface.outbox,
            context.outbox,
            surface.send,
            context.clock,
            pace=pace,
            weighs=surface.counts,
            given_up=self._given_up,
        )
        self._follower = JournalFollower(
            surface.outbox, context.hub, context.outbox, self._compose, self._dispatcher.wake, context.clock
        )
        self._turns = self._follower.turns
        self._progress = Progress(self._turns, pace, context.clock, limits.edit_seconds, self)
        self._typing = TypingIndicator(surface, self._turns, context.clock, manager)
        self._observers: tuple[SeesEvents, ...] = (self._progress, self._typing, *observers)

    def start(self, tasks: anyio.abc.TaskGroup) -> None:
        """Follows the journal and sends until the tasks are cancelled."""
        name = self._surface.name
        tasks.start_soon(self._follower.run, name=f"{name} follow")
        tasks.start_soon(self._dispatcher.run, name=f"{name} outbox")
        tasks.start_soon(self._progress.run, name=f"{name} progress")
        tasks.start_soon(self._typing.run, name=f"{name} typing")

    async def wait_for_cursor(self) -> None:
        """Returns once the chat has a place in the journal: what is obeyed before that would never be answered."""
        await self._follower.cursor_known.wait()

    async def show(self, card: Card, chat: str = "") -> None:
        """Puts a card into the queue of that chat, or of the manager's, if there is one."""
        chat = chat or self._manager.chat
        if not chat:
            return
        for parcel in self._surface.render(card, chat):
            await self._outbox.put(self._surface.outbox, (parcel,))
            self._dispatcher.wake()

    async def slot_of(self, chat: str, reference: str) -> str:
        """The slot of one of our messages, also of one that was answered before its sending was marked."""
        if known := await self._outbox.slot(self._surface.outbox, chat, reference):
            return known
        await self._dispatcher.settled(chat)
        return await self._outbox.slot(self._surface.outbox, chat, reference)

    async def drain(self) -> None:
        """Returns when nothing waits any more."""
        await self._dispatcher.drain()

    def _compose(self, event: Event, turn: TurnView | None) -> Sequence[Parcel]:
        for observer in self._observers:
            observer.see(event, turn)
        chat = self._manager.chat
        if not chat:
            return ()
        shown = [
            part for card in cards(event, turn, waited=self._turns.waited(event)) for part in split_off_files(card)
        ]
        return [parcel for card in shown for parcel in self._surface.render(card, chat)]

    def _given_up(self, waiting: Waiting, why: str) -> Parcel | None:
        """What the manager reads when a message did not get through: never nothing, and never in a circle."""
        if waiting.parcel.key.startswith(LOST):
            return None
        text = self._surface.failure(waiting, why)
        notice = plain_notice(f"{LOST}{waiting.parcel.key}", text)
        return next(iter(self._surface.render(notice, waiting.parcel.chat)), None) if text else None


def lost_message(begins: str, waiting: Waiting, why: str) -> str:
    """What is said in place of a message that was given up."""
    fate = "may not have reached you" if waiting.doubtful else "could not be sent"
    return f"⚠ A message {fate} ({why}). It begins: {' '.join(begins.split())[:80]}"
