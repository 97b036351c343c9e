"""The shapes of JSON inside hook events, under the CLI's names. They are for the checker: no hook loads them to run."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class LLMMessage(TypedDict, total=False):
    """One message of a conversation."""

    role: Literal["user", "model", "system"]
    content: str | list[Any]


class ToolConfig(TypedDict, total=False):
    """Which functions a model may call."""

    mode: Literal["AUTO", "ANY", "NONE"]
    allowedFunctionNames: list[str]


class LLMRequest(TypedDict, total=False):
    """What a model is asked."""

    model: str
    messages: list[LLMMessage]
    config: dict[str, Any]
    toolConfig: ToolConfig


class LLMContent(TypedDict, total=False):
    """What one candidate says."""

    role: Literal["model"]
    parts: list[str]


class LLMCandidate(TypedDict, total=False):
    """One answer of a model."""

    content: LLMContent
    finishReason: str
    index: int
    safetyRatings: list[Any]


class LLMUsage(TypedDict, total=False):
    """How many tokens were used."""

    promptTokenCount: int
    candidatesTokenCount: int
    totalTokenCount: int


class LLMResponse(TypedDict, total=False):
    """What a model answered."""

    text: str
    candidates: list[LLMCandidate]
    usageMetadata: LLMUsage


class HookToolResponse(TypedDict, total=False):
    """What a tool gave back."""

    llmContent: Any
    returnDisplay: Any
    error: Any


class TailToolCall(TypedDict):
    """A tool to run next; its result takes the place of this one's."""

    name: str
    args: dict[str, Any]


class McpContext(TypedDict, total=False):
    """Which MCP server a tool belongs to."""

    server_name: str
    tool_name: str
    command: str
    args: list[str]
    cwd: str
    url: str
    tcp: str
