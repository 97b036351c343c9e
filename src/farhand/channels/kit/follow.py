"""Follows the journal for a channel: folds turns into views, lays them out, puts what must be sent into the outbox."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

import structlog

from farhand.model import road, view
from farhand.model.facts import Event, TurnEnded, TurnStarted
from farhand.model.ports import Hub, Outbox, Parcel
from farhand.model.view import TurnView
from farhand.model.words import Seq

log = structlog.get_logger("follow")

# Lays out one event, with its turn as it stands after it. Pure, so that a repeat is equal.
Compose: TypeAlias = Callable[[Event, TurnView | None], Sequence[Parcel]]


class Turns:
    """The views of all turns that run, folded event by event."""

    def __init__(self) -> None:
        self._views: dict[tuple[str, str], TurnView] = {}

    def fold(self, event: Event) -> TurnView | None:
        """The event's turn after it; None for an event of no turn. A turn that ended is forgotten."""
        if event.turn is None:
            return None
        key = (event.worker, event.turn)
        if isinstance(event.fact, TurnStarted):
            self._views[key] = view.begin(event, event.fact)
            return self._views[key]
        known = self._views.get(key)
        if known is None:
            return None
        folded = view.fold(known, event)
        if isinstance(event.fact, TurnEnded):
            del self._views[key]
        else:
            self._views[key] = folded
        return folded


class Follower:
    """One channel's place in the journal. What it put is never put twice, however often it starts anew."""

    def __init__(self, channel: str, hub: Hub, outbox: Outbox, compose: Compose, put: Callable[[], None]) -> None:
        self._channel = channel
        self._hub = hub
        self._outbox = outbox
        self._compose = compose
        self._put = put
        self.turns = Turns()

    async def run(self) -> None:
        """Follows until it is cancelled."""
        cursor = await self._cursor()
        async for event in self._events(cursor):
            turn = self.turns.fold(event)
            if event.seq <= cursor:
                continue
            parcels = self._compose(event, turn)
            road.reached("follow.folded")
            if parcels:
                await self._outbox.put(self._channel, parcels, str(event.seq))
                road.reached("follow.put")
                self._put()

    async def _cursor(self) -> Seq:
        """Where the channel stands; a new channel starts with now."""
        kept = await self._outbox.cursor(self._channel)
        if kept:
            return int(kept)
        now = (await self._hub.look()).seq
        await self._outbox.put(self._channel, (), str(now))
        return now

    async def _events(self, cursor: Seq) -> AsyncIterator[Event]:
        """Events after the cursor, and before it those of the turns that still run: a view needs its whole turn."""
        present = await self._hub.look()
        begun = [worker.turn.seq - 1 for worker in present.workers.values() if worker.turn]
        async for event in self._hub.watch(after=min([cursor, *begun])):
            yield event
