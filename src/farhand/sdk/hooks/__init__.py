"""Hooks: functions that hear of the eleven events of a session, and may change what happens next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farhand.sdk.hooks.define import Hook, hook
from farhand.sdk.hooks.words import (
    AfterAgentInput,
    AfterAgentOutput,
    AfterModelInput,
    AfterModelOutput,
    AfterToolInput,
    AfterToolOutput,
    BeforeAgentInput,
    BeforeAgentOutput,
    BeforeModelInput,
    BeforeModelOutput,
    BeforeToolInput,
    BeforeToolOutput,
    BeforeToolSelectionInput,
    BeforeToolSelectionOutput,
    HookInput,
    HookOutput,
    NotificationInput,
    NotificationOutput,
    PreCompressInput,
    PreCompressOutput,
    SessionEndInput,
    SessionEndOutput,
    SessionStartInput,
    SessionStartOutput,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from farhand.sdk.hooks.shapes import HookToolResponse, LLMRequest, LLMResponse, TailToolCall, ToolConfig
    from farhand.sdk.hooks.system import Hooks
    from farhand.sdk.settings import AgentSettings

__all__ = [
    "AfterAgentInput",
    "AfterAgentOutput",
    "AfterModelInput",
    "AfterModelOutput",
    "AfterToolInput",
    "AfterToolOutput",
    "BeforeAgentInput",
    "BeforeAgentOutput",
    "BeforeModelInput",
    "BeforeModelOutput",
    "BeforeToolInput",
    "BeforeToolOutput",
    "BeforeToolSelectionInput",
    "BeforeToolSelectionOutput",
    "Hook",
    "HookInput",
    "HookOutput",
    "HookToolResponse",
    "LLMRequest",
    "LLMResponse",
    "NotificationInput",
    "NotificationOutput",
    "PreCompressInput",
    "PreCompressOutput",
    "SessionEndInput",
    "SessionEndOutput",
    "SessionStartInput",
    "SessionStartOutput",
    "TailToolCall",
    "ToolConfig",
    "hook",
    "load_hooks",
]


_SHAPES = ("LLMRequest", "LLMResponse", "TailToolCall", "ToolConfig", "HookToolResponse")


def __getattr__(name: str) -> Any:
    if name not in _SHAPES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from farhand.sdk.hooks import shapes

    return getattr(shapes, name)


def load_hooks(
    hooks: Sequence[object],
    settings: AgentSettings,
    cwd: Path | None = None,  # noqa: ARG001
    environ: Mapping[str, str] | None = None,  # noqa: ARG001
) -> Hooks:
    """The hooks of a session: those given in code, then those of the settings."""
    from farhand.sdk.hooks.system import collect

    return collect(hooks, settings)
