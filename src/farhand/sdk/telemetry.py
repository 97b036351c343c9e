"""OpenTelemetry spans of turns, model calls and tool calls, named by the conventions for generative AI."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import BadAgent

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

    from farhand.sdk.events import Usage
    from farhand.sdk.protocols import Content, Part, ToolCall, ToolResult
    from farhand.sdk.result import Result
    from farhand.sdk.session import Session

SCHEMA = "https://opentelemetry.io/schemas/1.37.0"


class Telemetry:
    """What `Agent(telemetry=…)` takes. Prompts, answers and arguments are left out unless `content` is True.

    Without a `tracer_provider` it is the one that the program set up for OpenTelemetry, or none.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None, *, content: bool = False) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise BadAgent("Telemetry needs OpenTelemetry: pip install 'farhand[otel]'.") from None
        self._tracer = trace.get_tracer("farhand.sdk", tracer_provider=tracer_provider, schema_url=SCHEMA)
        self._content = content

    @contextmanager
    def turn(self, session: Session, parts: list[Part] | None) -> Generator[TurnSpan]:
        """A span around a turn: `invoke_agent`."""
        name = session.subagent_name or "farhand"
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": name,
            "gen_ai.conversation.id": session.id,
            "gen_ai.request.model": session.model_name,
        }
        with self._span(f"invoke_agent {name}", attributes) as span:
            if self._content and parts is not None:
                span.set_attribute("gen_ai.input.messages", _messages("user", parts))
            yield TurnSpan(span, content=self._content)

    @contextmanager
    def chat(self, session: Session, model: str) -> Generator[ChatSpan]:
        """A span around a model call: `chat`."""
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            "gen_ai.conversation.id": session.id,
        }
        with self._span(f"chat {model}", attributes, client=True) as span:
            yield ChatSpan(span, content=self._content)

    @contextmanager
    def tool(self, call: ToolCall) -> Generator[ToolSpan]:
        """A span around a tool call: `execute_tool`."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        with self._span(f"execute_tool {call.name}", attributes) as span:
            if self._content:
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call.arguments, default=str))
            yield ToolSpan(span, content=self._content)

    @contextmanager
    def _span(self, name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Generator[Span]:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        with self._tracer.start_as_current_span(name, kind=kind, attributes=attributes, record_exception=False) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR, str(error)))
                raise


class TurnSpan:
    """What is told of a turn at its end."""

    def __init__(self, span: Span, *, content: bool) -> None:
        self._span, self._content = span, content

    def ended(self, result: Result[Any]) -> None:
        """How it ended and what it took."""
        self._span.set_attribute("gen_ai.response.finish_reasons", [result.reason])
        _count(self._span, result.usage)
        if result.reason in ("error", "budget"):
            _fail(self._span, result.reason, result.detail)
        if self._content:
            self._span.set_attribute("gen_ai.output.messages", _messages("assistant", [{"text": result.text}]))


class ChatSpan:
    """What is told of a model call at its end."""

    def __init__(self, span: Span, *, content: bool) -> None:
        self._span, self._content = span, content

    def ended(self, content: Content, ending: str, usage: Usage | None) -> None:
        """What the model answered, and what it took."""
        if ending:
            self._span.set_attribute("gen_ai.response.finish_reasons", [ending.lower()])
        if usage is not None:
            self._span.set_attribute("gen_ai.response.model", usage.model)
            _count(self._span, usage)
        if self._content:
            self._span.set_attribute("gen_ai.output.messages", _messages("assistant", content.get("parts") or ()))


class ToolSpan:
    """What is told of a tool call at its end."""

    def __init__(self, span: Span, *, content: bool) -> None:
        self._span, self._content = span, content

    def ended(self, result: ToolResult) -> None:
        """What came of it."""
        if result.error is not None:
            _fail(self._span, "tool_error", result.error if self._content else "")
        elif self._content:
            self._span.set_attribute("gen_ai.tool.call.result", str(result.content))


def _count(span: Span, usage: Usage) -> None:
    span.set_attribute("gen_ai.usage.input_tokens", usage.input_tokens)
    span.set_attribute("gen_ai.usage.output_tokens", usage.output_tokens + usage.thought_tokens)


def _fail(span: Span, kind: str, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, why or None))


def _messages(role: str, parts: Sequence[Part]) -> str:
    """Messages in the form of the conventions: `[{"role": …, "parts": [{"type": "text", "content": …}]}]`."""
    return json.dumps([{"role": role, "parts": [_told(part) for part in parts]}], default=str)


def _told(part: Part) -> dict[str, Any]:
    if "functionCall" in part:
        call = part["functionCall"]
        return {"type": "tool_call", "id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
    if "text" in part:
        return {"type": "reasoning" if part.get("thought") else "text", "content": part["text"]}
    return {"type": next(iter(part), "other")}
