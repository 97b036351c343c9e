"""The one turn that runs in a session: a task that performs it, and whoever reads its events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, TypeAlias

from farhand.sdk.errors import SdkError
from farhand.sdk.event_stream import EventStream
from farhand.sdk.events import Error, Event, Finish
from farhand.sdk.spans import turn_span

if TYPE_CHECKING:
    from farhand.sdk.loop import TurnLoop
    from farhand.sdk.protocols import Part
    from farhand.sdk.session import Session

# What a turn begins with: its prompt; one that is made in the turn, where it may ask; or none, to go on.
TurnPrompt: TypeAlias = "list[Part] | Callable[[], Awaitable[list[Part]]] | None"

_DETAILS = {
    "interrupted": "The person interrupted the turn.",
    "paused": "The turn waits for an answer, and can be gone on with.",
}


class ActiveTurn:
    """Owns the task of a turn. The task ends with its reader, whichever way the reader leaves.

    `seen` hears of every event, also of those that nobody reads any more.
    """

    def __init__(
        self,
        name: str,
        perform: Callable[[], Awaitable[None]],
        said: Callable[[], str],
        seen: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self._said = said
        self._seen = seen
        self._events = EventStream()
        self._interrupted = False
        self._ending: Literal["interrupted", "paused"] = "interrupted"
        self._finished = False
        self.is_forsaken = False
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(perform), name=name)
        self._task.add_done_callback(self._ended)

    @property
    def done(self) -> bool:
        """Whether the turn is over, also when its last events were not read."""
        return self._task.done()

    async def _run(self, perform: Callable[[], Awaitable[None]]) -> None:
        try:
            await perform()
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            if not self._finished:
                await self.emit(Finish(self._ending, self._said(), _DETAILS[self._ending]))

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not self._finished:
            self._seen(Finish("interrupted", self._said(), "The turn was left."))
        if self._events.closed and not task.cancelled():
            # Nobody is left to be told.
            task.exception()
        self._events.put(None)

    async def emit(self, event: Event) -> None:
        """Gives an event to the reader and waits until it was taken (backpressure), unless the turn was interrupted."""
        self._finished = self._finished or isinstance(event, Finish)
        self._seen(event)
        if self._interrupted:
            self._events.put(event)
        else:
            await self._events.give(event)

    async def next_event(self) -> Event | None:
        """The next event; None at the end. Raises what made the task fail."""
        event = await self._events.take()
        if event is None:
            self._events.put(None)
            if not self._task.cancelled():
                await self._task
        return event

    def interrupt(self, ending: Literal["interrupted", "paused"] = "interrupted") -> bool:
        """Ends the turn with a `Finish` that says so. Twice is once."""
        if self._task.done():
            return False
        if not self._interrupted:
            self._interrupted, self._ending = True, ending
            self._task.cancel()
        return True

    async def ended(self, timeout_seconds: float | None = None) -> None:
        """Waits for its end, unless it is the turn itself that waits."""
        if self._task is not asyncio.current_task():
            await asyncio.wait([self._task], timeout=timeout_seconds)

    async def abandon(self) -> None:
        """Ends the turn without a reader."""
        if self.done:
            return
        self._events.close()
        self.interrupt()
        await self.ended()

    def forsake(self) -> None:
        """Ends the turn because nobody can read it any more; whoever wants the session next waits for that."""
        if self._task.done() or self._loop.is_closed():
            return
        self.is_forsaken = True
        self._loop.call_soon_threadsafe(self._let_go)

    def _let_go(self) -> None:
        self._events.close()
        self.interrupt()


async def perform(session: Session, turn: TurnLoop, prompt: TurnPrompt) -> None:
    """Runs a turn in a session that is prepared for it and that nobody else writes to, within its budgets."""
    async with session.agent.leased():
        with ExitStack() as held:
            try:
                await session.prepare()
                held.enter_context(session.conversation.alone())
                parts = await prompt() if callable(prompt) else prompt
            except Exception as error:  # noqa: BLE001 - settings, memory and hooks are the person's own files
                kind = error.kind if isinstance(error, SdkError) else "settings"
                await session.emit(Error(str(error), kind, cause=error))
                await session.emit(Finish("error", "", str(error)))
                return
            with turn_span(session, parts) as span:
                await session.spending.within(turn, parts)
                span.ended(turn.result)
