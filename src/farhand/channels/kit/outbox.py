"""Sends what the outbox holds: in order for each chat, marked before and after, repeated at most once in doubt.

What is urgent has a lane of its own, so that it waits for no answer and no upload. Progress gives way: it is sent when
the pace can spare it, and dropped when it is to be removed before it was sent."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Protocol, TypeAlias, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel

from farhand.channels.kit.pace import Pace
from farhand.model import road
from farhand.model.errors import ChannelError, StoreError
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.store_ports import Outbox, Parcel, Waiting

log = get_logger("outbox")

# Brings a parcel to the surface and returns what the surface calls it.
Send: TypeAlias = Callable[[Waiting], Awaitable[str]]
# What is sent in place of a parcel that was given up, with the reason.
GivenUp: TypeAlias = Callable[[Waiting, str], Sequence[Parcel]]
# A chat, and whether this is the lane of what is urgent.
Lane: TypeAlias = tuple[str, bool]

T = TypeVar("T")
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 60.0
STORE_PAUSE_SECONDS = 2.0
# How long a send that is under way may go on when the node stops; and how long it may take to mark what was answered.
LAST_SEND_SECONDS = 2.0
LAST_MARK_SECONDS = 10.0
# A stop's patience is counted in such steps: a machine that stood still has used up one of them, and not all.
STOP_STEP_SECONDS = 0.1


def always(_: Parcel) -> bool:
    """Every parcel counts against the surface's limits."""
    return True


class ProgressRules(Protocol):
    """Which parcels are progress, which slot a parcel removes, and how many answers are still owed."""

    def gives_way(self, parcel: Parcel) -> bool:
        """Whether answers and questions go before this parcel."""
        ...

    def removes(self, parcel: Parcel) -> str:
        """The slot whose message this parcel takes away; empty for any other parcel."""
        ...

    async def owed(self) -> int:
        """How many answers are to come that nobody has put yet."""
        ...


class NoProgress:
    """The rules of a surface that shows no progress."""

    def gives_way(self, _: Parcel) -> bool:
        """Never."""
        return False

    def removes(self, _: Parcel) -> str:
        """Nothing."""
        return ""

    async def owed(self) -> int:
        """None."""
        return 0


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
    """One task a lane while it has something to send."""

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
        progress: ProgressRules | None = None,
        last_send_seconds: float = LAST_SEND_SECONDS,
    ) -> None:
        self._channel = channel
        self._outbox = outbox
        self._send = send
        self._clock = clock
        self._pace = pace
        self._weighs = weighs
        self._given_up = given_up
        self._progress: ProgressRules = progress or NoProgress()
        self._last_send_seconds = last_send_seconds
        # Set and replaced whenever something was put.
        self._put = anyio.Event()
        self._draining = False
        self._news = anyio.Event()
        self._busy: set[Lane] = set()
        # Lanes that something was just put into.
        self._named: set[Lane] = set()
        self._emptied = anyio.Event()
        # What is under way, and how long it may go on when the node stops; how long it has done so.
        self._under_way: dict[anyio.CancelScope, float] = {}
        self._stopped_seconds = -inf
        # Set when what is under way in that lane is marked.
        self._marked: dict[Lane, anyio.Event] = {}
        # Until when nothing is sent to a chat (its rate limit), and the event that is set when one is released early.
        self._patience: dict[str, float] = {}
        self._released = anyio.Event()

    def wake(self, put_now: Sequence[Parcel] = ()) -> None:
        """Something was put; the lanes of these parcels are begun without a look into the store."""
        self._named |= {(parcel.chat, parcel.urgent) for parcel in put_now}
        self._news.set()
        put, self._put = self._put, anyio.Event()
        put.set()

    def release(self, chat: str) -> None:
        """The surface takes messages to that chat again: what waits for that goes now."""
        self._patience.pop(chat, None)
        released, self._released = self._released, anyio.Event()
        released.set()

    async def run(self) -> None:
        """Sends until it is cancelled; what is being sent at that moment is finished, within a limit."""
        async with anyio.create_task_group() as tasks:
            try:
                while True:
                    self._news = anyio.Event()
                    named, self._named = self._named, set()
                    self._begin(tasks, sorted(named, key=lambda lane: not lane[1]))
                    self._begin(tasks, await self._surely(lambda: self._outbox.lanes(self._channel)))
                    await self._news.wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._let_end()

    async def _let_end(self) -> None:
        """Returns when nothing is under way any more; cancels what takes longer than it may."""
        self._stopped_seconds = 0.0
        while self._under_way:
            for scope, seconds in self._under_way.items():
                if self._stopped_seconds >= seconds:
                    scope.cancel()
            await anyio.sleep(STOP_STEP_SECONDS)
            self._stopped_seconds += STOP_STEP_SECONDS

    def _begin(self, tasks: anyio.abc.TaskGroup, lanes: Iterable[Lane]) -> None:
        for lane in lanes:
            if lane not in self._busy:
                self._busy.add(lane)
                tasks.start_soon(self._empty, lane, name=f"outbox {self._channel} {lane[0]}")

    async def drain(self) -> None:
        """Returns when nothing waits any more; progress is held back no longer."""
        self._draining = True
        self.wake()
        while True:
            # Taken before the look: what is emptied during it counts.
            emptied = self._emptied
            if await self.drained():
                return
            await emptied.wait()

    async def drained(self) -> bool:
        """Whether nothing waits any more."""
        return not await self._outbox.lanes(self._channel)

    async def settled(self, chat: str) -> None:
        """Returns when what is under way to that chat is marked: a person may be quicker than the mark."""
        for urgent in (True, False):
            if marked := self._marked.get((chat, urgent)):
                await marked.wait()

    async def _empty(self, lane: Lane) -> None:
        """Sends everything of one lane, in order."""
        pause = FIRST_PAUSE_SECONDS
        try:
            while (chosen := await self._next(lane)) is not None:
                first, held = chosen
                await self._until_allowed(lane, first)
                # Looked at again after the wait: a newer edit may have taken the place of the one that waited.
                if (waiting := await self._look(lane, held=held)) is None:
                    continue
                released = self._released
                # A stop comes before the next send: the send itself is shielded from it.
                await anyio.lowlevel.checkpoint_if_cancelled()
                wait = await self._bring_whole(waiting)
                if wait is None:
                    pause = FIRST_PAUSE_SECONDS
                else:
                    # The surface may have put something else in its place: in a lane of its own, that goes meanwhile.
                    self._news.set()
                    await self._sleep_until(released, wait or pause)
                    pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        finally:
            self._busy.discard(lane)
            self._news.set()
            emptied, self._emptied = self._emptied, anyio.Event()
            emptied.set()

    async def _until_allowed(self, lane: Lane, first: Waiting) -> None:
        """Until the surface's patience, which its lanes share, and the pace let the next one go."""
        chat, urgent = lane
        while (wait := self._patience.get(chat, 0.0) - self._clock.now()) > 0:
            await self._sleep_until(self._released, wait)
        if self._pace and self._weighs(first.parcel):
            await self._pace.ready(chat, urgent=urgent)

    async def _next(self, lane: Lane) -> tuple[Waiting, bool] | None:
        """What is sent next, and whether it passes progress that is held back.

        Progress keeps its place while the pace can spare it; alone, it waits until then or until something is put."""
        while True:
            put = self._put
            first = await self._look(lane)
            if first is None:
                return None
            wait = await self._until_spare(lane) if self._gives_way(first) else 0.0
            if not wait:
                return first, False
            if (passing := await self._look(lane, held=True)) is not None:
                return passing, True
            await self._sleep_until(put, wait)

    async def _waiting(self, lane: Lane, limit: int = 1000) -> list[Waiting]:
        chat, urgent = lane
        return await self._surely(lambda: self._outbox.waiting(self._channel, chat, limit, urgent=urgent))

    async def _look(self, lane: Lane, *, held: bool = False) -> Waiting | None:
        """The first that waits; with `held`, the first that is no progress, and what is to be removed is dropped."""
        found = await self._waiting(lane, limit=1)
        if not held or not found or not self._gives_way(found[0]):
            return next(iter(found), None)
        found = await self._waiting(lane)
        removed = {self._progress.removes(one.parcel) for one in found} - {""}
        for one in found:
            if self._gives_way(one) and one.parcel.slot in removed:
                await self._drop(one)
        return next((one for one in found if not self._gives_way(one)), None)

    async def _drop(self, one: Waiting) -> None:
        await self._surely(lambda: self._outbox.failed(one.id, "removed before it was sent"))

    def _gives_way(self, one: Waiting) -> bool:
        # What may have arrived keeps its place: only when it is sent again is it known what to remove.
        return not one.doubtful and self._progress.gives_way(one.parcel)

    async def _until_spare(self, lane: Lane) -> float:
        if self._pace is None or self._draining:
            return 0.0
        found = await self._waiting(lane)
        behind = sum(self._weighs(one.parcel) and not self._gives_way(one) for one in found)
        return self._pace.until_spare(lane[0], behind + await self._progress.owed())

    async def _sleep_until(self, event: anyio.Event, seconds: float) -> None:
        async with anyio.create_task_group() as tasks:

            async def wake() -> None:
                await event.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wake)
            await self._clock.sleep(seconds)
            tasks.cancel_scope.cancel()

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
        lane, marked = (waiting.parcel.chat, waiting.parcel.urgent), anyio.Event()
        self._marked[lane] = marked
        try:
            seconds = self._last_send_seconds + LAST_MARK_SECONDS
            with anyio.CancelScope(shield=True) as scope, self._ended_after(seconds, scope):
                return await self._bring(waiting)
        finally:
            del self._marked[lane]
            marked.set()
        return 0.0

    @contextmanager
    def _ended_after(self, seconds: float, scope: anyio.CancelScope) -> Iterator[None]:
        """A stop lets this go on for so long."""
        self._under_way[scope] = seconds
        if self._stopped_seconds >= seconds:
            scope.cancel()
        try:
            yield
        finally:
            del self._under_way[scope]

    async def _answer(self, waiting: Waiting) -> str | None:
        """What the surface calls it; None when a stop has waited long enough for that."""
        with anyio.CancelScope(shield=True) as scope, self._ended_after(self._last_send_seconds, scope):
            return await self._send(waiting)
        return None

    async def _bring(self, waiting: Waiting) -> float | None:
        """Sends one parcel. None: go on; a number: wait so many seconds (0: the usual pause) before the next try."""
        if waiting.doubts >= 2:
            await self._give_up(waiting, "unknown: sent twice, and no answer came")
            return None
        await self._surely(lambda: self._outbox.begin(waiting.id))
        road.reached("outbox.before_send")
        try:
            reference = await self._answer(waiting)
        except SendLater as error:
            await self._surely(lambda: self._outbox.again(waiting.id))
            if error.after_seconds:
                self._patience[waiting.parcel.chat] = self._clock.now() + error.after_seconds
            return error.after_seconds or 0.0
        except SendRefused as error:
            await self._give_up(waiting, error.text)
            return None
        except (SendUncertain, StoreError):
            await self._surely(lambda: self._outbox.doubt(waiting.id))
            return 0.0
        except Exception as error:
            # An error of ours, which the next start would meet again: one parcel must not end the node.
            log.exception("send failed", channel=self._channel, key=waiting.parcel.key)
            await self._give_up(waiting, f"it tripped an error of the node's own ({type(error).__name__})")
            return None
        if reference is None:
            return 0.0
        road.reached("outbox.sent")
        await self._surely(lambda: self._outbox.sent(waiting.id, reference))
        road.reached("outbox.marked")
        return None

    async def _give_up(self, waiting: Waiting, why: str) -> None:
        """Marks it as failed, and tells whoever wants to know: never in silence."""
        log.warning("send given up", channel=self._channel, chat=waiting.parcel.chat, key=waiting.parcel.key, why=why)
        instead = self._in_place_of(waiting, why)
        if instead:
            await self._surely(lambda: self._outbox.put(self._channel, instead))
            self.wake()
        await self._surely(lambda: self._outbox.failed(waiting.id, why))

    def _in_place_of(self, waiting: Waiting, why: str) -> Sequence[Parcel]:
        try:
            return self._given_up(waiting, why) if self._given_up else ()
        except Exception:
            log.exception("nothing can be said in place of a parcel", channel=self._channel, key=waiting.parcel.key)
            return ()
