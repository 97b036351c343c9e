"""From events to messages: lays facts out as cards, puts them into the outbox and sends them at the surface's pace."""

from collections.abc import Sequence
from functools import partial

import anyio.abc

from farhand.channels.kit.card import PROGRESS_SLOTS, Card, removed_slot
from farhand.channels.kit.fact_cards import cards
from farhand.channels.kit.follow import JournalFollower, TurnViews
from farhand.channels.kit.lifecycle import lifecycle_cards
from farhand.channels.kit.long_answers import AnswerLimits, answer_cards
from farhand.channels.kit.outbox import Dispatcher
from farhand.channels.kit.pace import Pace
from farhand.channels.kit.progress import Progress
from farhand.channels.kit.said_elsewhere import said_elsewhere
from farhand.channels.kit.surface import ChatSurface, KnowsManager, RateLimits, SeesEvents
from farhand.channels.kit.typing import TypingIndicator
from farhand.model.attention_ports import NO_ATTENTION, AttentionView
from farhand.model.channel_ports import ChannelContext
from farhand.model.facts import Ended, Event, Hired
from farhand.model.ports import Hub
from farhand.model.review import is_reviewer
from farhand.model.store_ports import Outbox, Parcel, Waiting
from farhand.model.view import TurnView
from farhand.model.words import replace

LOST = "lost:"
# How the keys begin of what a person is asked, of what became of it, and of what else must be said for an answer.
URGENT_KEYS = ("ask:", "words:")


class CardQueue:
    """Puts cards into the outbox of one surface, and finds what was sent by what the surface calls it."""

    def __init__(self, surface: ChatSurface, outbox: Outbox, dispatcher: Dispatcher, manager: KnowsManager) -> None:
        self._surface = surface
        self._outbox = outbox
        self._dispatcher = dispatcher
        self._manager = manager

    async def show(self, card: Card, chat: str = "") -> None:
        """Puts a card into the queue of that chat, or of the manager's, if there is one."""
        chat = chat or self._manager.chat
        if not chat:
            return
        for parcel in parcels(self._surface, card, chat):
            await self._outbox.put(self._surface.outbox, (parcel,))
            self._dispatcher.wake()

    async def slot_of(self, chat: str, reference: str) -> str:
        """The slot of one of our messages, also of one that was answered before its sending was marked."""
        if known := await self._outbox.slot(self._surface.outbox, chat, reference):
            return known
        await self._dispatcher.settled(chat)
        return await self._outbox.slot(self._surface.outbox, chat, reference)

    async def slots(self, beginning: str) -> list[str]:
        """The slots of our messages that begin so."""
        return await self._outbox.slots(self._surface.outbox, beginning)


class CardComposer:
    """Lays out what the manager is shown of each event."""

    def __init__(
        self,
        surface: ChatSurface,
        manager: KnowsManager,
        turns: TurnViews,
        observers: Sequence[SeesEvents],
        answers: AnswerLimits | None = None,
        attention: AttentionView = NO_ATTENTION,
    ) -> None:
        self._surface = surface
        self._answers = answers
        self._attention = attention
        self._manager = manager
        self._turns = turns
        self._observers = observers

    def compose(self, event: Event, turn: TurnView | None) -> Sequence[Parcel]:
        """The parcels for the manager's chat, if there is one; every observer sees the event first."""
        if is_reviewer(event.worker):
            # Its review tells what comes of it.
            return ()
        for observer in self._observers:
            observer.see(event, turn)
        chat = self._manager.chat
        if not chat:
            return ()
        waited = self._turns.waited(event)
        elsewhere = said_elsewhere(event, self._surface.name, waits=waited)
        whole = [*elsewhere, *cards(event, turn, waited=waited), *lifecycle_cards(event)]
        topic, silenced = topic_of(event), self._attention.silences(self._surface.name, event)
        laid_out = (part for card in whole for part in answer_cards(card, self._answers))
        parts = [replace(part, topic=topic, silent=part.silent or silenced) for part in laid_out]
        return [parcel for part in parts for parcel in parcels(self._surface, part, chat)]


def topic_of(event: Event) -> str:
    """In whose part of the chat it is shown; who comes and who goes is told to the team."""
    return "" if isinstance(event.fact, Hired | Ended) else event.worker


def is_urgent(card: Card) -> bool:
    """Whether the card overtakes answers: an agent waits for a person, or a person for the end of an ask."""
    return card.key.startswith(URGENT_KEYS) or card.slot.startswith(URGENT_KEYS)


def parcels(surface: ChatSurface, card: Card, chat: str) -> list[Parcel]:
    """What shows a card on a surface; all that belongs to an urgent card is urgent."""
    urgent = is_urgent(card)
    return [replace(parcel, urgent=urgent) for parcel in surface.render(card, chat)]


class ChatProgressRules:
    """Progress and cards of waiting messages give way; every running turn and every waiting message owes an answer."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def gives_way(self, parcel: Parcel) -> bool:
        """Whether it is the message of a turn's progress or of a message that waits, or an edit of one."""
        return parcel.slot.startswith(PROGRESS_SLOTS) and not self.removes(parcel)

    def removes(self, parcel: Parcel) -> str:
        """The slot whose message this parcel takes away."""
        return removed_slot(parcel.key)

    async def owed(self) -> int:
        """The turns that run and the messages that wait, of all workers."""
        workers = (await self._hub.look()).workers.values()
        return sum(len(worker.queue) + (worker.turn is not None) for worker in workers)


class Outbound:
    """Wires what a chat sends: follower → composer → outbox → dispatcher, with progress and typing beside them."""

    def __init__(
        self,
        surface: ChatSurface,
        context: ChannelContext,
        manager: KnowsManager,
        limits: RateLimits,
        observers: Sequence[SeesEvents] = (),
        answers: AnswerLimits | None = None,
    ) -> None:
        self._name = surface.name
        self._channel, self._outbox = surface.outbox, context.outbox
        clock, outbox, turns = context.clock, context.outbox, TurnViews()
        pace = Pace(
            clock,
            per_chat=limits.chat_per_second,
            burst=limits.chat_burst,
            overall=limits.per_second,
            own_limit=limits.own_limit,
        )
        self._dispatcher = Dispatcher(
            surface.outbox,
            outbox,
            surface.send,
            clock,
            pace=pace,
            weighs=surface.counts,
            given_up=partial(replacement, surface),
            progress=ChatProgressRules(context.hub),
        )
        self.queue = CardQueue(surface, outbox, self._dispatcher, manager)
        self._progress = Progress(turns, pace, clock, limits.edit_seconds, self.queue)
        self._typing = TypingIndicator(surface, turns, clock, manager)
        self._seeing: list[SeesEvents] = [self._progress, self._typing, *observers]
        composer = CardComposer(surface, manager, turns, self._seeing, answers, context.attention)
        self._follower = JournalFollower(
            surface.outbox, context.hub, outbox, composer.compose, self._dispatcher.wake, clock, turns
        )

    def observe(self, observer: SeesEvents) -> None:
        """Shows it every event from now on, too."""
        self._seeing.append(observer)

    def start(self, tasks: anyio.abc.TaskGroup) -> None:
        """Follows the journal and sends until the tasks are cancelled."""
        tasks.start_soon(self._follower.run, name=f"{self._name} follow")
        tasks.start_soon(self._dispatcher.run, name=f"{self._name} outbox")
        tasks.start_soon(self._progress.run, name=f"{self._name} progress")
        tasks.start_soon(self._typing.run, name=f"{self._name} typing")

    async def wait_for_cursor(self) -> None:
        """Returns once the chat has a cursor in the journal: what is obeyed before that would never be answered."""
        await self._follower.cursor_known.wait()

    async def find(self, chat: str, reference: str) -> Parcel | None:
        """The parcel of one of our messages, also of one that somebody speaks of before its sending was marked."""
        if known := await self._outbox.find(self._channel, chat, reference):
            return known
        await self._dispatcher.settled(chat)
        return await self._outbox.find(self._channel, chat, reference)

    def wake(self) -> None:
        """Something was put into the outbox beside the queue."""
        self._dispatcher.wake()

    def release(self, chat: str) -> None:
        """The surface takes messages to that chat again."""
        self._dispatcher.release(chat)

    async def drain(self) -> None:
        """Returns when nothing waits any more."""
        await self._dispatcher.drain()


def replacement(surface: ChatSurface, waiting: Waiting, why: str) -> list[Parcel]:
    """What the manager reads when a message did not get through: never nothing, and never in a circle."""
    parcel = waiting.parcel
    if parcel.key.startswith(LOST) or parcel.slot.startswith(PROGRESS_SLOTS):
        # Of what shows a state that passes nothing is missed.
        return []
    text = surface.failure(waiting, why)
    shown = surface.render(Card(key=f"{LOST}{parcel.key}", head=text), parcel.chat) if text else ()
    return [replace(one, urgent=parcel.urgent) for one in shown]


def lost_file(worker: str, path: str, why: str, *, picture: bool) -> str:
    """What is said in place of a file that was given up."""
    return f"{worker}: [{'Image' if picture else 'File'} failed: {path}]\nWhy: {why}"


def lost_message(begins: str, waiting: Waiting, why: str) -> str:
    """What is said in place of a message that was given up."""
    fate = "may not have reached you" if waiting.doubtful else "could not be sent"
    return f"⚠ A message {fate} ({why}). It begins: {' '.join(begins.split())[:80]}"
