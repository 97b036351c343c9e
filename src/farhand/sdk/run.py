"""A run: one turn that is under way, its events, its end and its answer. Whoever leaves it ends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from farhand.sdk.budget import Budget, BudgetExceeded
from farhand.sdk.errors import NoAnswer, SdkError
from farhand.sdk.events import Event
from farhand.sdk.result import Result, Tally

if TYPE_CHECKING:
    from farhand.sdk.active_turn import ActiveTurn, TurnPrompt
    from farhand.sdk.prompt import Prompt
    from farhand.sdk.session import Session
    from farhand.sdk.structured_output import Structured

T = TypeVar("T")


def _structured(output: type[T] | None) -> Structured[T] | None:
    if output is None:
        return None
    from farhand.sdk.structured_output import Structured

    return Structured(output)


def blocking(make: Callable[[], Awaitable[T]]) -> T:
    """Runs something to its end in an event loop of its own."""
    import asyncio

    async def work() -> T:
        return await make()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    raise SdkError("An event loop runs here: use `await session.send(…)` in place of send_sync.")


class Run(Generic[T]):
    """Made by `session.run(prompt)`; begins when it is entered or first read, and the turn waits for its reader.

    `async with session.run(prompt, output=V) as run: async for event in run: …`, then `run.result` and `run.data`.
    Left in whatever way (the end of the block, a break, an error, `cancel`), the turn ends and the session is free.
    """

    def __init__(
        self,
        session: Session,
        parts_of: Callable[[], TurnPrompt],
        output: type[T] | None,
        budget: Budget | None = None,
    ) -> None:
        self.session = session
        self._parts_of = parts_of
        self._structured = _structured(output)
        self._turn: ActiveTurn | None = None
        self._tally = Tally(session.id)
        self._budget = budget

    @property
    def done(self) -> bool:
        """Whether the turn is over."""
        return self._turn is not None and self._turn.done

    @property
    def result(self) -> Result[T | None]:
        """How it ended; so far as it got, while it runs or when it was left early."""
        data = self._structured.data if self._structured is not None else None
        return self._tally.result(data, self.session)

    @property
    def data(self) -> T:
        """The answer in the type that was asked for. Raises NoAnswer, with the result, when there is none."""
        if self._structured is None or not self._structured.done:
            raise NoAnswer(self.result, typed=self._structured is not None)
        return cast("T", self._structured.data)

    async def wait(self) -> Result[T]:
        """Reads the rest and gives back how it ended; raises what made it fail, and NoAnswer for a missing answer."""
        async for _ in self:
            pass
        failed = self._tally.failure
        if failed is not None:
            if isinstance(failed.cause, BudgetExceeded):
                failed.cause.result = self.result
            raise failed.cause or SdkError(failed.message)
        if self._structured is not None:
            _ = self.data
        return cast("Result[T]", self.result)

    async def cancel(self) -> None:
        """Ends the turn; the transcript stays whole and can be gone on with."""
        if self._turn is not None:
            await self._turn.abandon()

    def steer(self, prompt: Prompt) -> bool:
        """Says something to the model in the middle of its turn, before it is asked next. False when it is over."""
        return not self.done and self.session.steer(prompt)

    def queue(self, prompt: Prompt) -> bool:
        """Says something when the model is done with what it does now, in the same run. False when it is over."""
        return not self.done and self.session.queue(prompt)

    async def aclose(self) -> None:
        """As `cancel`."""
        await self.cancel()

    def __aiter__(self) -> Run[T]:
        return self

    async def __anext__(self) -> Event:
        await self._begin()
        event = await self._turn.next_event() if self._turn is not None else None
        if event is None:
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> Run[T]:
        await self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cancel()

    def __del__(self) -> None:
        if self._turn is not None:
            self._turn.forsake()

    async def _begin(self) -> None:
        if self._turn is None:
            self._turn = await self.session.turns.begin(self._parts_of, self._structured, self._tally, self._budget)
