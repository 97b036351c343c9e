"""How a turn ended, gathered from its events."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farhand.sdk.events import Error, Event, Finish, FinishReason, ToolRequest, ToolResponse, Usage
from farhand.sdk.messages import HistoryMessage, clean_messages

if TYPE_CHECKING:
    from farhand.sdk.protocols import Part
    from farhand.sdk.session import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool call of a run, and what came of it; `content` is None while it runs."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    content: str | list[Part] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """How a turn ended: what was said, the structured answer when one was asked for, and what it took."""

    text: str
    reason: FinishReason
    usage: Usage
    data: T
    detail: str = ""
    session_id: str = ""
    messages: tuple[HistoryMessage, ...] = ()
    tool_calls: tuple[UsedTool, ...] = ()
    turns: int = 0
    duration_seconds: float = 0.0
    dollars: float | None = None


class Tally:
    """What the events of a run add up to. It hears of each as it happens, whether or not somebody reads it."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._finish = Finish("interrupted", "", "The run has not ended.")
        self._usage = Usage()
        self._calls: dict[str, UsedTool] = {}
        self._started = time.monotonic()
        self._seconds: float | None = None
        self._mark = 0
        self.turns = 0
        self.failure: Error | None = None

    def start(self, mark: int) -> None:
        """The run begins, and the conversation was this long."""
        self._mark, self._started = mark, time.monotonic()

    def take(self, event: Event) -> None:
        """One more event."""
        match event:
            case Usage():
                self._usage = self._usage.plus(event)
            case ToolRequest(call_id, name, arguments):
                self._calls[call_id] = UsedTool(call_id, name, arguments)
            case ToolResponse(call_id, name, content, error=error):
                asked = self._calls.get(call_id, UsedTool(call_id, name, {}))
                self._calls[call_id] = UsedTool(call_id, name, asked.arguments, content, error)
            case Error(fatal=True):
                self.failure = event
            case Finish():
                self._finish = event
                self._seconds = time.monotonic() - self._started
            case _:
                pass

    def result(self, data: Any, session: Session) -> Result[Any]:
        """All of it."""
        seconds = time.monotonic() - self._started if self._seconds is None else self._seconds
        return Result(
            self._finish.text,
            self._finish.reason,
            self._usage,
            data,
            self._finish.detail,
            self._session_id,
            tuple(clean_messages(session.conversation.added[self._mark :])),
            tuple(self._calls.values()),
            self.turns,
            seconds,
            self._usage.dollars,
        )
