"""Follows the journal for a channel: folds turns into views, lays them out, puts what must be sent into the outbox."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import anyio

from farhand.model import road, view
from farhand.model.errors import EventsGone, StoreError
from farhand.model.facts import Doubted, Event, HandedOver, Queued, Reworded, TurnEnded, TurnStarted, Withdrawn
from farhand.model.logger import get_logger
from farhand.model.ports import Clock, Hub
from farhand.model.store_ports import Outbox, Parcel
from farhand.model.view import TurnView
from farhand.model.words import MessageId, Seq

log = get_logger("follow")
STORE_PAUSE_SECONDS = 2.0
MOST_WAITED = 1000

# Lays out one event, with its turn as it stands after it. Pure, so that a repeat is equal.
Compose: TypeAlias = Callable[[Event, TurnView | None], Sequence[Parcel]]


class TurnViews:
    """The views of all turns that run, folded event by event."""

    def __init__(self) -> None:
        self._views: dict[tuple[str, str], TurnView] = {}
        self._starts: dict[tuple[str, str], Seq] = {}
        # Whether a message came while its worker was at something else.
        self._waited: dict[MessageId, bool] = {}

    def forget(self) -> None:
        """Starts with nothing, before events are folded anew."""
        self._views.clear()
        self._starts.clear()
        self._waited.clear()

    def since(self, seq: Seq) -> Seq:
        """From which number on events are needed to go on after this one: the start of the oldest turn that runs."""
        return min([seq, *(start - 1 for start in self._starts.values())])

    def running(self) -> list[TurnView]:
        """The turns that run now."""
        return list(self._views.values())

    def waited(self, event: Event) -> bool:
        """Whether the message of this event had to wait; of one from before this node's start nobody knows: yes."""
        match event.fact:
            case Queued(message=message) | Reworded(message=message) | Withdrawn(message=message):
                return self._waited.get(message, True)
            case TurnStarted(message=str(message)) | HandedOver(message=message) | Doubted(message=message):
                return self._waited.get(message, True)
            case _:
                return False

    def fold(self, event: Event) -> TurnView | None:
        """The event's turn after it; None for an event of no turn. A turn that ended is forgotten."""
        if isinstance(event.fact, Queued):
            self._waited[event.fact.message] = any(worker == event.worker for worker, _ in self._views)
            for old in list(self._waited)[:-MOST_WAITED]:
                del self._waited[old]
        if event.turn is None:
            return None
        key = (event.worker, event.turn)
        if isinstance(event.fact, TurnStarted):
            self._views[key] = view.begin(event, event.fact)
            self._starts[key] = event.seq
            return self._views[key]
        known = self._views.get(key)
        if known is None:
            return None
        folded = view.fold(known, event)
        if isinstance(event.fact, TurnEnded):
            del self._views[key], self._starts[key]
        else:
            self._views[key] = folded
        return folded


class JournalFollower:
    """One channel's place in the journal. What it put is never put twice, however often it starts anew."""

    def __init__(
        self,
        channel: str,
        hub: Hub,
        outbox: Outbox,
        compose: Compose,
        wake: Callable[[Sequence[Parcel]], None],
        clock: Clock,
        turns: TurnViews | None = None,
    ) -> None:
        self._channel = channel
        self._hub = hub
        self._outbox = outbox
        self._compose = compose
        self._wake = wake
        self._clock = clock
        self.turns = turns or TurnViews()
        # Set once the channel's cursor is known: every event after it will be laid out.
        self.cursor_known = anyio.Event()

    async def run(self) -> None:
        """Follows until it is cancelled. When the store refuses, it starts anew from what the store has."""
        while True:
            try:
                await self._follow()
            except StoreError as error:
                log.error("channel waits for the store", channel=self._channel, error=error.text)
            except EventsGone as error:
                await self._skip(error)
            self.turns.forget()
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _follow(self) -> None:
        put, since = await self._read_cursor()
        self.cursor_known.set()
        async for event in self._hub.watch(after=since):
            turn = self.turns.fold(event)
            if event.seq <= put:
                continue
            parcels = self._compose(event, turn)
            road.reached("follow.folded")
            if parcels:
                await self._outbox.put(self._channel, parcels, f"{event.seq} {self.turns.since(event.seq)}")
                road.reached("follow.put")
                self._wake(parcels)

    async def _skip(self, gone: EventsGone) -> None:
        """Goes on with what is kept, when the channel was away for longer than the journal reaches back."""
        log.warning("events of this channel are no longer kept", channel=self._channel, **gone.details)
        first = int(gone.details["first"])
        await self._outbox.put(self._channel, (), f"{first - 1} {first - 1}")

    async def _read_cursor(self) -> tuple[Seq, Seq]:
        """Up to which event the channel has put everything, and from where it must read to see its turns whole."""
        cursor = await self._outbox.cursor(self._channel)
        if cursor:
            put, _, since = cursor.partition(" ")
            return int(put), int(since or put)
        # A new channel starts with now, and with the turns that run now.
        present = await self._hub.look()
        begun = [worker.turn.seq - 1 for worker in present.workers.values() if worker.turn]
        since_now = min([present.seq, *begun])
        await self._outbox.put(self._channel, (), f"{present.seq} {since_now}")
        return present.seq, since_now
