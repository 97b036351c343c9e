"""Moves the rules of attention with every fact and with the clock, and has the right channel buzz."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

import anyio

from farhand.attention.turns import RunningTurns
from farhand.model import attention_rules as rules
from farhand.model.attention import AttentionKind
from farhand.model.attention_ports import AttentionStore, BuzzesApp, Nudges
from farhand.model.attention_rules import APP, AskBundle, AttentionState, Buzz, Matter, Situation, WaitingAsk
from farhand.model.channel_ports import Channel, ReachesManager
from farhand.model.devices import ViewRegistry
from farhand.model.digest import DigestLine, digest, digest_text, leads_to
from farhand.model.errors import ChannelError, StoreError
from farhand.model.facts import AskSettled, AttentionSet, Event
from farhand.model.logger import get_logger
from farhand.model.matters import (
    AT_THE_DESK,
    MAY_MATTER,
    OF_INTEREST,
    ask_key,
    beginning,
    matter_of,
    person_of,
    settled_ask,
)
from farhand.model.ports import Clock
from farhand.model.present import Present
from farhand.model.wire import decode_event
from farhand.model.words import Seq, replace

log = get_logger("attention")
STORE_PAUSE_SECONDS = 2.0
# What changes nothing but the memory is stored so much later, together with what comes meanwhile.
QUIET_SECONDS = 5.0
_CHUNK = 512


class WrittenHub(Protocol):
    """The present as it is written, and what is written next."""

    def listen(self, listener: Callable[[Sequence[Event]], None]) -> None:
        """Calls it with what was just written."""
        ...

    @property
    def present(self) -> Present:
        """It."""
        ...


class ReadsJournal(Protocol):
    """Reads what was written."""

    async def read(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Events after that number, with their numbers."""
        ...


class Attention:
    """Hears every fact as it is written, so that a decision stands before any channel shows the fact."""

    def __init__(self, hub: WrittenHub, store: AttentionStore, views: ViewRegistry, clock: Clock) -> None:
        self._hub = hub
        self._store = store
        self._views = views
        self._clock = clock
        self._state = AttentionState()
        # Up to which event everything was taken in; and what was stored last.
        self._seq = 0
        self._stored: tuple[AttentionState, Seq] | None = None
        self._turns = RunningTurns()
        self._channels: Sequence[Channel] = ()
        self._chats: tuple[tuple[str, ReachesManager], ...] = ()
        self._apps: tuple[BuzzesApp, ...] = ()
        self._buzzes: deque[Buzz] = deque()
        self._settled: deque[tuple[WaitingAsk, AskSettled | None]] = deque()
        # What is left of notifications of several asks, by place.
        self._left: dict[str, AskBundle] = {}
        self._changed = asyncio.Event()
        self._changed_quietly = asyncio.Event()

    def join(self, channels: Sequence[Channel]) -> None:
        """The channels that can buzz."""
        self._channels = channels
        self._chats = tuple((one.name, one) for one in channels if isinstance(one, ReachesManager))
        self._apps = tuple(one for one in channels if isinstance(one, BuzzesApp))

    async def open(self, journal: ReadsJournal, channels: Sequence[Channel]) -> None:
        """Goes on where the last run stopped: what was written since is taken in now, what comes as it is written."""
        self.join(channels)
        self._hub.listen(self.hear)
        present = self._hub.present
        kept = await self._store.load()
        self._state = kept or AttentionState()
        self._seq = kept.seq if kept else present.seq
        while self._seq < present.seq:
            rows = await journal.read(self._seq, _CHUNK)
            events = [decode_event(body) for _, body in rows]
            self.hear(events)
            if not events:
                self._seq = present.seq
        if kept is None:
            self._take_up(present)
        self._forget_closed()
        self._turns.begin(present)

    def _take_up(self, present: Present) -> None:
        """The asks that were open before there were rules."""
        due = self._clock.now() + present.attention.next_minutes * 60
        for worker in present.workers.values():
            for ask in worker.asks:
                matter = Matter(key=ask_key(ask.id), kind=AttentionKind.ASK, at=due, worker=worker.name)
                waiting = WaitingAsk(matter=replace(matter, text=beginning(ask.question)), due=due)
                if ask.settled is None:
                    self._state = replace(self._state, asks={**self._state.asks, matter.key: waiting})

    # --- what happens

    def hear(self, events: Sequence[Event]) -> None:
        """Takes in what was just written; returns at once."""
        for event in events:
            self._turns.hear(event, self._hub.present)
            if type(event.fact) in OF_INTEREST:
                self._hear(event)
        if events:
            self._seq = events[-1].seq

    def _hear(self, event: Event) -> None:
        if (person := person_of(event)) is not None:
            self._state = rules.seen(self._state, event.at, desk=person.via in AT_THE_DESK)
        if isinstance(event.fact, AttentionSet):
            self._state = rules.settings_changed(self._state, self._clock.now())
            self._changed.set()
        if ask := settled_ask(event):
            self._settle(ask, event.fact if isinstance(event.fact, AskSettled) else None)
        if type(event.fact) not in MAY_MATTER:
            return
        via, said = self._turns.about(event)
        worker = self._hub.present.workers.get(event.worker)
        if (matter := matter_of(event, worker, via, said)) is not None:
            self.take(matter)
        elif key := self._turns.unsaid(event):
            self._state = replace(self._state, decided={**self._state.decided, key: ""})

    def take(self, matter: Matter) -> None:
        """Something that a person may want to know."""
        before = self._state
        self._state, buzzes = rules.take(before, matter, self._hub.present.attention, self._around())
        self._buzzes += buzzes
        if buzzes or self._state.asks is not before.asks or self._state.held is not before.held:
            self._changed.set()
        else:
            self._changed_quietly.set()

    def tell(self, text: str) -> None:
        """Something about the node itself happened."""
        now = self._clock.now()
        self.take(Matter(key=f"node:{now}:{text[:40]}", kind=AttentionKind.NODE, at=now, text=beginning(text)))
        # No event tells of it: it is stored at once.
        self._changed.set()

    def _settle(self, ask: str, fact: AskSettled | None) -> None:
        state, waiting = rules.settle(self._state, ask_key(ask))
        self._move(state)
        if waiting is not None:
            self._settled.append((waiting, fact))
            self._changed.set()

    def _move(self, state: AttentionState) -> None:
        """Takes that state, and notes what has changed of the notifications of several asks."""
        for place, before in self._state.bundles.items():
            after = state.bundles.get(place, replace(before, matters=()))
            if after.key != before.key:
                # A newer notification takes its place.
                self._left.pop(place, None)
            elif after != before:
                self._left[place] = after
        self._state = state

    def _forget_closed(self) -> None:
        """Asks that are over without a fact of their own: their worker is gone."""
        open_now = self._open_asks()
        for key in [key for key in self._state.asks if key not in open_now]:
            self._settle(key.removeprefix("ask:"), None)

    def _open_asks(self) -> frozenset[str]:
        workers = self._hub.present.workers.values()
        return frozenset(ask_key(ask.id) for worker in workers for ask in worker.asks if ask.settled is None)

    def _looked(self) -> None:
        """Somebody looks at something else."""
        if any(ask.postponed and not ask.places for ask in self._state.asks.values()):
            before, self._state = self._state, rules.looked(self._state, self._hub.present.attention, self._around())
            if self._state is not before:
                self._changed.set()

    def device_added(self) -> None:
        """A device can be reached by push from now on."""
        self._state = rules.renew(self._state, self._hub.present.attention, self._clock.now())
        self._changed.set()

    def _around(self) -> Situation:
        looked = frozenset(name for name in self._hub.present.workers if self._views.looking_at(name, answers=True))
        chats = tuple(name for name, chat in self._chats if chat.manager_chat)
        app = any(one.can_buzz or (one.can_show and not chats) for one in self._apps)
        return Situation(now=self._clock.now(), looked_at=looked, app=app, chats=chats)

    # --- what is asked

    def silences(self, channel: str, event: Event) -> bool:
        """Whether what that channel shows of the event must not buzz."""
        matter = matter_of(event, None)
        place = self._state.decided.get(matter.key) if matter else None
        return place is not None and place != channel

    def digest(self) -> tuple[DigestLine, ...]:
        """What happened while nobody was there. Whoever asks is there: it stays the same until the next absence."""
        now = self._clock.now()
        missed = rules.missed(self._state, now)
        self._state = rules.seen(self._state, now)
        self._changed.set()
        return digest(missed, self._open_asks())

    # --- what is done

    async def run(self) -> None:
        """Has channels buzz, at once and when the time has come, until it is cancelled."""
        with self._views.calling(self._looked):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._store_quiet_changes)
                try:
                    while True:
                        await self._step()
                finally:
                    with anyio.CancelScope(shield=True), suppress(StoreError):
                        await self._keep()

    async def _store_quiet_changes(self) -> None:
        """What a kill leaves unstored is taken in again at the next start, out of the journal."""
        while True:
            await self._changed_quietly.wait()
            self._changed_quietly.clear()
            await self._clock.sleep(QUIET_SECONDS)
            self._changed.set()

    async def _keep(self) -> None:
        state, seq = self._state, self._seq
        if self._stored is None or state is not self._stored[0] or seq != self._stored[1]:
            await self._store.keep(replace(state, seq=seq))
            self._stored = state, seq

    async def _step(self) -> None:
        """Does what is to be done now, and waits until there is more."""
        self._changed = asyncio.Event()
        try:
            await self._deliver()
            await self._keep()
        except StoreError as error:
            log.error("attention waits for the store", error=error.text)
            await self._clock.sleep(STORE_PAUSE_SECONDS)
            return
        due = rules.next_due(self._state)
        if due is None:
            await self._changed.wait()
        elif due <= self._clock.now():
            self._wake()
        else:
            await self._sleep(due - self._clock.now())

    def _wake(self) -> None:
        self._forget_closed()
        state, buzzes = rules.wake(self._state, self._hub.present.attention, self._around())
        self._move(state)
        self._buzzes += buzzes

    async def _deliver(self) -> None:
        """Settlements last: an ask that is over must not be shown after its end."""
        while self._buzzes or self._settled or self._left:
            if self._buzzes:
                buzz = self._buzzes[0]
                if self._is_news(buzz):
                    await self._bring(buzz)
                self._buzzes.popleft()
            elif self._settled:
                await self._end(*self._settled[0])
                self._settled.popleft()
            else:
                place, bundle = next(iter(self._left.items()))
                await self._show_left(place, bundle)
                if self._left.get(place) is bundle:
                    del self._left[place]

    def _is_news(self, buzz: Buzz) -> bool:
        open_now = self._open_asks()
        # What takes the place of another must come in any case.
        return bool(buzz.replaces) or any(
            one.kind is not AttentionKind.ASK or one.key in open_now for one in buzz.matters
        )

    async def _bring(self, buzz: Buzz) -> None:
        log.info("buzz", place=buzz.place, key=buzz.key, step=buzz.step)
        if buzz.place != APP and buzz.with_fact:
            # The chat shows the fact itself, and loudly.
            return
        for channel in self._channels:
            try:
                await self._ask_channel(channel, buzz)
            except ChannelError as error:
                log.error("not buzzed", channel=channel.name, error=error.text)

    async def _ask_channel(self, channel: Channel, buzz: Buzz) -> None:
        if buzz.place == APP:
            if isinstance(channel, BuzzesApp):
                await channel.buzz(buzz)
        elif channel.name != buzz.place:
            return
        elif isinstance(channel, Nudges):
            await channel.nudge(buzz)
        elif isinstance(channel, ReachesManager):
            await channel.notify(digest_text(digest(buzz.matters, self._open_asks()), leads_to("")))

    async def _end(self, ask: WaitingAsk, fact: AskSettled | None) -> None:
        steps = [(place, number) for number, place in enumerate(ask.places, start=1)]
        for channel in self._channels:
            if isinstance(channel, BuzzesApp) and ask.told_alone(APP):
                await channel.settled(ask, fact)
            elif isinstance(channel, Nudges):
                here = [number for place, number in steps if place == channel.name]
                await channel.withdraw_nudges(ask.matter.key.removeprefix("ask:"), here)

    async def _show_left(self, place: str, bundle: AskBundle) -> None:
        for channel in self._channels:
            is_there = place == APP if isinstance(channel, BuzzesApp) else channel.name == place
            if is_there and isinstance(channel, BuzzesApp | Nudges):
                await channel.bundle_left(bundle)

    async def _sleep(self, seconds: float) -> None:
        """Until then, or until something happens."""
        changed = self._changed
        async with anyio.create_task_group() as tasks:

            async def wake() -> None:
                await changed.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wake)
            await self._clock.sleep(seconds)
            tasks.cancel_scope.cancel()
