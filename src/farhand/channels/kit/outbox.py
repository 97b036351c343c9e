"""Sends what the outbox holds: in order for each chat, marked before and after, repeated at most once in doubt."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

import anyio
import anyio.abc
import structlog

from farhand.channels.kit.pace import Pace
from farhand.model import road
from farhand.model.errors import ChannelError, StoreError
from farhand.model.ports import Clock, Outbox, Parcel, Waiting

log = structlog.get_logger("outbox")

# Brings a parcel to the surface and returns what the surface calls it.
Send: TypeAlias = Callable[[Waiting], Awaitable[str]]
# What is sent in place of a parcel that was given up, with the reason.
GivenUp: TypeAlias = Callable[[Waiting, str], Parcel | None]

T = TypeVar("T")
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 60.0
STORE_PAUSE_SECONDS = 2.0
# How long a send that is under way may go on when the node stops.
LAST_SEND_SECONDS = 2.0


def always(_: Parcel) -> bool:
    """Every parcel counts against the surface's limits."""
    return True


class SendUncertain(ChannelError):
    """The surface may or may not have taken it: the answer never came."""

    code = "send_uncertain"


class SendRefused(ChannelError):
    """The surface will never take it."""

    code = "send_refused"


class SendLater(ChannelError):
    """The surface certainly did not take it and wants to be asked again."""

    code = "send_later"

    def __init__(self, text: str, after_seconds: float | None = None) -> None:
        super().__init__(text)
        self.after_seconds = after_seconds


class Dispatcher:
    """One task a chat while it has something to send."""

    def __init__(
        self,
        channel: str,
        outbox: Outbox,
        send: Send,
        clock: Clock,
        *,
        pace: Pace | None = None,
        weighs: Callable[[Parcel], bool] = always,
        given_up: GivenUp | None = None,
    ) -> None:
        self._channel = channel
        self._outbox = outbox
        self._send = send
        self._clock = clock
        self._pace = pace
        self._weighs = weighs
        self._given_up = given_up
        self._news = anyio.Event()
        self._busy: set[str] = set()
        self._emptied = anyio.Event()
        self._under_way: set[anyio.CancelScope] = set()
        # Set when what is under way to that chat is marked.
        self._marked: dict[str, anyio.Event] = {}

    def wake(self) -> None:
        """Something was put."""
        self._news.set()

    async def run(self) -> None:
        """Sends until it is cancelled; what is being sent at that moment is finished, within a limit."""
        async with anyio.create_task_group() as tasks:
            try:
                while True:
                    self._news = anyio.Event()
                    for chat in await self._surely(lambda: self._outbox.chats(self._channel)):
                        if chat not in self._busy:
                            self._busy.add(chat)
                            tasks.start_soon(self._empty, chat, name=f"outbox {self._channel} {chat}")
                    await self._news.wait()
            finally:
                for scope in self._under_way:
                    scope.deadline = anyio.current_time() + LAST_SEND_SECONDS

    async def drain(self) -> None:
        """Returns when nothing waits any more."""
        while True:
            # Taken before the look: what is emptied during it counts.
            emptied = self._emptied
            if await self.drained():
                return
            await emptied.wait()

    async def drained(self) -> bool:
        """Whether nothing waits any more."""
        return not await self._outbox.chats(self._channel)

    async def settled(self, chat: str) -> None:
        """Returns when what is under way to that chat is marked: a person may be quicker than the mark."""
        if marked := self._marked.get(chat):
            await marked.wait()

    async def _empty(self, chat: str) -> None:
        """Sends everything for one chat, in order."""
        pause = FIRST_PAUSE_SECONDS
        try:
            while (first := await self._next(chat)) is not None:
                if self._pace and self._weighs(first.parcel):
                    await self._pace.ready(chat)
                # Looked at again after the wait: a newer edit may have taken the place of the one that waited.
                if (waiting := await self._next(chat)) is None:
                    break
                wait = await self._bring_whole(waiting)
                if wait is None:
                    pause = FIRST_PAUSE_SECONDS
                else:
                    await self._clock.sleep(wait or pause)
                    pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        finally:
            self._busy.discard(chat)
            self._news.set()
            emptied, self._emptied = self._emptied, anyio.Event()
            emptied.set()

    async def _next(self, chat: str) -> Waiting | None:
        found = await self._surely(lambda: self._outbox.waiting(self._channel, chat, limit=1))
        return next(iter(found), None)

    async def _surely(self, work: Callable[[], Awaitable[T]]) -> T:
        """Waits for a store that refuses: what was sent and could not be marked would be sent again."""
        while True:
            try:
                return await work()
            except StoreError as error:
                log.error("outbox waits for the store", channel=self._channel, error=error.text)
                await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _bring_whole(self, waiting: Waiting) -> float | None:
        """Sends one parcel and marks it; a stop in between would send it again after the next start."""
        with anyio.CancelScope(shield=True) as scope:
            chat, marked = waiting.parcel.chat, anyio.Event()
            self._under_way.add(scope)
            self._marked[chat] = marked
            try:
                return await self._bring(waiting)
            finally:
                self._under_way.discard(scope)
                del self._marked[chat]
                marked.set()
        return 0.0

    async def _bring(self, waiting: Waiting) -> float | None:
        """Sends one parcel. None: go on; a number: wait so many seconds (0: the usual pause) before the next try."""
        if waiting.doubts >= 2:
            await self._give_up(waiting, "unknown: sent twice, and no answer came")
            return None
        await self._surely(lambda: self._outbox.begin(waiting.id))
        road.reached("outbox.before_send")
        try:
            reference = await self._send(waiting)
        except SendLater as error:
            await self._surely(lambda: self._outbox.again(waiting.id))
            return error.after_seconds or 0.0
        except SendRefused as error:
            await self._give_up(waiting, error.text)
            return None
        except SendUncertain:
            await self._surely(lambda: self._outbox.doubt(waiting.id))
            return 0.0
        road.reached("outbox.sent")
        await self._surely(lambda: self._outbox.sent(waiting.id, reference))
        road.reached("outbox.marked")
        return None

    async def _give_up(self, waiting: Waiting, why: str) -> None:
        """Marks it as failed, and tells whoever wants to know: never in silence."""
        log.warning("send given up", channel=self._channel, chat=waiting.parcel.chat, key=waiting.parcel.key, why=why)
        notice = self._given_up(waiting, why) if self._given_up else None
        if notice is not None:
            await self._surely(lambda: self._outbox.put(self._channel, (notice,)))
        await self._surely(lambda: self._outbox.failed(waiting.id, why))
