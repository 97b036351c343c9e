"""What every link to an agent in tmux shares: all that reaches it stands in one line, from which only `facts` takes."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import anyio
import anyio.abc
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.disk.tail import read_lines
from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport, spooled
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxGone
from farhand.drivers.wires.tmux.screen import last_words
from farhand.model.errors import AgentGone
from farhand.model.facts import Fact, Noted
from farhand.model.ports import Batch, Heard


class Written(msgspec.Struct, frozen=True):
    """Something may have been added to the agent's own file."""


class Left(msgspec.Struct, frozen=True):
    """A hook may have left something in the spool."""


class LateFacts(msgspec.Struct, frozen=True):
    """Facts that came to light beside the agent's own words."""

    facts: tuple[Fact, ...]


News: TypeAlias = Written | LateFacts | HookArrival | Death | TmuxGone
# What else reaches a link of one CLI.
Own = TypeVar("Own")


class SeatedLink(Generic[Own]):
    """A link to one agent in a pane. What is the CLI's own, its driver adds."""

    # How a person calls the CLI.
    title = ""
    # The one process whose hooks count; None where the payload itself says whose it is.
    _hooks_of: int | None = None

    def __init__(self, tmux: Tmux, pane: Pane, folder: Path) -> None:
        self._tmux = tmux
        self._pane = pane
        self._spool = folder / "spool"
        # What the link's own opening brought to light.
        self.first: list[Heard] = []
        self._send, self._receive = anyio.create_memory_object_stream[Any](math.inf)
        self._unread = False
        self._settled_in = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None

    # --- what a driver adds

    @abstractmethod
    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> None:
        """Starts everything that brings news; it ends with the group."""

    @abstractmethod
    def _position(self) -> object:
        """Where the link stands; what is compared to see whether it moved."""

    @abstractmethod
    def _batch(self, heard: list[Heard]) -> Batch:
        """The facts, with where the link stands after them."""

    @abstractmethod
    def _read(self) -> list[Heard]:
        """All that was added to the agent's own file."""

    @abstractmethod
    async def _reported(self, arrived: HookReport) -> list[Heard]:
        """What a hook brought."""

    @abstractmethod
    async def _take(self, item: Own | News) -> list[Heard]:
        """What follows from whatever comes next in the line."""

    # --- the line

    def _attend(self, tasks: anyio.abc.TaskGroup, folders: FolderWatcher) -> None:
        """From now on things may come; the agent's death is one of them."""
        self._tasks = tasks
        tasks.start_soon(self._hear_death, name="death")
        tasks.start_soon(self._hear_spool, folders, name="spool")

    @asynccontextmanager
    async def at_work(
        self, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> AsyncIterator[None]:
        """Listens as long as it is wanted."""
        with closing(self):
            async with anyio.create_task_group() as tasks:
                self.listen(tasks, arrivals, folders)
                yield
                tasks.cancel_scope.cancel()

    def close(self) -> None:
        """Nobody listens any more; hooks that wait ask the next link."""
        self._send.close()
        self._receive.close()

    def _put(self, item: Own | News | Left) -> None:
        self._send.send_nowait(item)

    async def _hear_death(self) -> None:
        try:
            self._put(await self._tmux.died(self._pane))
        except TmuxGone as gone:
            self._put(gone)

    async def _hear_spool(self, folders: FolderWatcher) -> None:
        with folders.watched(_made(self._spool)) as change:
            while True:
                self._put(Left())
                await change.wait()

    async def _watch(self, folders: FolderWatcher, folder: Path) -> None:
        """Looks into the agent's own file whenever something in its folder changes."""
        with folders.watched(_made(folder)) as change:
            while True:
                self._kick()
                await change.wait()

    def _kick(self) -> None:
        if not self._unread:
            self._unread = True
            self._put(Written())

    def _after(self, seconds: float, later: Own) -> None:
        async def wait() -> None:
            await anyio.sleep(seconds)
            self._put(later)

        if self._tasks is not None:
            self._tasks.start_soon(wait)

    async def facts(self) -> AsyncIterator[Batch]:
        """Everything that the agent brings, in order, until it ends."""
        yield self._batch(self.first)
        self._settled_in.set()
        async for batch in self._from_spool():
            yield batch
        async for item in self._receive:
            if isinstance(item, Left | HookReport | HookAsk):
                # What a hook left there was said before whatever comes after it.
                async for batch in self._from_spool():
                    yield batch
            if isinstance(item, Left):
                continue
            if (news := await self._taken(item)) is not None:
                yield news
            if isinstance(item, Death | TmuxGone):
                self._raise_if_wanted(item)
                return

    async def _from_spool(self) -> AsyncIterator[Batch]:
        """What hooks left; it is taken away only when it is written down."""
        for kept in spooled(self._spool):
            batch = await self._taken(kept) if self._hooks_of in (None, kept.agent) else None
            if batch is not None:
                yield batch
            if kept.spooled is not None:
                kept.spooled.unlink(missing_ok=True)

    async def _taken(self, item: Own | News) -> Batch | None:
        """What follows from it; None when nothing does."""
        before = self._position()
        heard = await self._take(item)
        return self._batch(heard) if heard or self._position() != before else None

    # --- its end

    def _raise_if_wanted(self, item: Death | TmuxGone) -> None:
        """A clean end at the desk was wanted; any other is healed by a new start."""
        if isinstance(item, Death) and item.status == 0:
            raise AgentGone(f"{self.title} was ended at the desk. Relaunch the worker to go on with its memory.")

    def _went(self, item: Death | TmuxGone) -> Heard:
        """What a person is told about it."""
        if isinstance(item, TmuxGone):
            return Heard(fact=Noted(text=f"{item} {self.title} is started again and keeps its memory."))
        status = "was killed" if item.status is None else f"ended with status {item.status}"
        words = f" Its last words: {last_words(item.screen)}" if item.screen else ""
        return Heard(fact=Noted(text=f"{self.title} {status}.{words}"))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


class Reading(Protocol):
    """Where a link stands in a file of lines."""

    @property
    def path(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def state(self) -> Any: ...


Spot = TypeVar("Spot", bound=Reading)


def read_on(spot: Spot, translate: Callable[[bytes, Any, float], tuple[list[Heard], Any]]) -> tuple[list[Heard], Spot]:
    """All that was added to the agent's own file: its facts, and the spot after them."""
    heard: list[Heard] = []
    offset, state, now = spot.offset, spot.state, time.time()
    while spot.path:
        found = read_lines(Path(spot.path), offset)
        for line in found.lines:
            told, state = translate(line, state, now)
            heard += told
        offset = found.offset
        if not found.more:
            break
    if offset == spot.offset and state is spot.state:
        return heard, spot
    return heard, msgspec.structs.replace(spot, offset=offset, state=state)  # type: ignore[type-var]
