"""What `send_stream` yields: one frozen class an event, each with its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from farhand.sdk.json_shapes import is_object, is_sequence
from farhand.sdk.protocols import Part, Question

FinishReason = Literal[
    "stop", "length", "safety", "stopped", "blocked", "interrupted", "paused", "max_turns", "budget", "error"
]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    type: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what the model says it thinks."""

    type: ClassVar[str] = "thought"
    text: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """The model wants a tool to run."""

    type: ClassVar[str] = "tool_request"
    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """A tool ended: what the model is told, what the person sees, and the error when there is one."""

    type: ClassVar[str] = "tool_response"
    call_id: str
    name: str
    content: str | list[Part]
    display: str = ""
    error: str | None = None
    data: Any = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A question waits for a person. Answer with `session.answer(event.question.id, …)` or an asker on the agent."""

    type: ClassVar[str] = "ask"
    question: Question


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one model call, and what they cost where the price is known."""

    type: ClassVar[str] = "usage"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    thought_tokens: int = 0
    tool_tokens: int = 0
    total_tokens: int = 0
    model: str = ""
    dollars: float | None = None

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.thought_tokens + other.thought_tokens,
            self.tool_tokens + other.tool_tokens,
            self.total_tokens + other.total_tokens,
            other.model or self.model,
            _together(self.dollars, other.dollars),
        )


def usage_event(usage: Mapping[str, Any], model: str) -> Usage:
    """The token counts of a response as an event."""
    return Usage(
        _count(usage, "promptTokenCount"),
        _count(usage, "candidatesTokenCount"),
        _count(usage, "cachedContentTokenCount"),
        _count(usage, "thoughtsTokenCount"),
        _count(usage, "toolUsePromptTokenCount"),
        _count(usage, "totalTokenCount"),
        model,
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    # A count below nothing would give back what was spent.
    return max(0, int(usage.get(name) or 0))


def _together(one: float | None, other: float | None) -> float | None:
    return None if one is None and other is None else (one or 0.0) + (other or 0.0)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know: a hook's message, a compression, what a resumed session has lost."""

    type: ClassVar[str] = "notice"
    message: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Error:
    """Something failed. After a fatal one the turn ends; `retryable` says whether `session.retry()` makes sense."""

    type: ClassVar[str] = "error"
    message: str
    kind: str = "error"
    fatal: bool = True
    retryable: bool = False
    cause: BaseException | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Finish:
    """The turn is over. Always the last event."""

    type: ClassVar[str] = "finish"
    reason: FinishReason
    text: str = ""
    detail: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model's server was busy or not there; it is asked again after this wait."""

    type: ClassVar[str] = "retrying"
    attempt: int
    wait_seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """A running tool says how far it is (`context.progress`); `fraction` is 0 to 1 where it knows."""

    type: ClassVar[str] = "progressed"
    call_id: str
    message: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class SubagentEvent:
    """An event of a subagent's own session, which the call `call_id` of its parent's session began."""

    type: ClassVar[str] = "subagent_event"
    name: str
    session_id: str
    parent_id: str
    call_id: str
    event: Event


Event: TypeAlias = (
    Text
    | Thought
    | ToolRequest
    | ToolResponse
    | Ask
    | Usage
    | Notice
    | Error
    | Finish
    | Retrying
    | Progressed
    | SubagentEvent
)


def to_json(event: Event) -> dict[str, Any]:
    """An event as a JSON object with its `type`."""
    if isinstance(event, SubagentEvent):
        return {"type": event.type, **_plain(event), "event": to_json(event.event)}
    return {"type": event.type, **_plain(event)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.name not in ("cause", "data")
        }
    if is_object(value):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_sequence(value):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
