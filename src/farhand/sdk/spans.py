"""Where spans begin and end in a turn. Without telemetry they cost one look at the agent."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.protocols import Part, ToolCall
    from farhand.sdk.session import Session
    from farhand.sdk.telemetry import ChatSpan, Telemetry, ToolSpan, TurnSpan


class SilentSpan:
    """Hears nothing."""

    def ended(self, *_told: Any) -> None:
        """Nobody wants to know."""


_SILENT = SilentSpan()


def turn_span(session: Session, parts: list[Part] | None) -> AbstractContextManager[TurnSpan | SilentSpan]:
    """Around a turn."""
    telemetry = telemetry_of(session)
    return nullcontext(_SILENT) if telemetry is None else telemetry.turn(session, parts)


def chat_span(session: Session, model: str) -> AbstractContextManager[ChatSpan | SilentSpan]:
    """Around a model call."""
    telemetry = telemetry_of(session)
    return nullcontext(_SILENT) if telemetry is None else telemetry.chat(session, model)


def tool_span(session: Session, call: ToolCall) -> AbstractContextManager[ToolSpan | SilentSpan]:
    """Around a tool call."""
    telemetry = telemetry_of(session)
    return nullcontext(_SILENT) if telemetry is None else telemetry.tool(call)


def telemetry_of(session: Session) -> Telemetry | None:
    """The agent's own, or that of the agent that it works for."""
    found = session.agent.telemetry
    while found is None and session.parent is not None:
        session = session.parent
        found = session.agent.telemetry
    return found
