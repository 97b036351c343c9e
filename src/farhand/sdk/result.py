"""How a turn ended, gathered from its events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farhand.sdk.errors import SdkError
from farhand.sdk.events import Error, Event, Finish, FinishReason, Usage

if TYPE_CHECKING:
    from farhand.sdk.structured import Structured

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """How a turn ended: what was said, the structured answer when one was asked for, and the tokens of all calls."""

    text: str
    reason: FinishReason
    usage: Usage
    data: T
    detail: str = ""


async def gathered(events: AsyncIterator[Event], structured: Structured[Any] | None) -> Result[Any]:
    """Reads a turn to its end; raises what made it fail."""
    finish = Finish("error")
    failed: Error | None = None
    spent = Usage()
    async for event in events:
        if isinstance(event, Finish):
            finish = event
        elif isinstance(event, Error) and event.fatal:
            failed = event
        elif isinstance(event, Usage):
            spent = spent.plus(event)
    if failed is not None:
        raise failed.cause or SdkError(failed.message)
    data = structured.data if structured is not None else None
    return Result(finish.text, finish.reason, spent, data, finish.detail)
