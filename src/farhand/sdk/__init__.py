"""The agent SDK: an agent in a few lines, its sessions, tools and hooks. Names are imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.agent import Agent as GeminiCliAgent
    from farhand.sdk.errors import (
        BadAnswer,
        BadPrompt,
        FakeExhausted,
        ModelError,
        ModelRefused,
        SdkError,
        SessionBusy,
        SessionNotFound,
        StreamCut,
    )
    from farhand.sdk.events import Ask, Error, Event, Finish, Notice, Text, Thought, ToolRequest, ToolResponse, Usage
    from farhand.sdk.extensions import Extension, ExtensionError, extension
    from farhand.sdk.hooks import hook
    from farhand.sdk.models.anthropic import AnthropicModel
    from farhand.sdk.models.fake import FakeModel
    from farhand.sdk.models.gemini import GeminiModel
    from farhand.sdk.models.openai import OpenAiModel
    from farhand.sdk.models.recorder import Recorder
    from farhand.sdk.models.vertex import VertexModel
    from farhand.sdk.policies.rules import PolicyError, Rule, allow, ask, deny
    from farhand.sdk.prompt import File, Image
    from farhand.sdk.protocols import Approval, Content, Part, Question, Reply, SessionContext, ToolCall, ToolResult
    from farhand.sdk.result import Result
    from farhand.sdk.session import Session
    from farhand.sdk.skills import SkillDir, skill_dir
    from farhand.sdk.subagents import Subagent, SubagentError, subagent
    from farhand.sdk.terminal import Terminal
    from farhand.sdk.tools import ToolError, tool

_HOMES = {
    "Agent": "agent",
    "AnthropicModel": "models.anthropic",
    "Approval": "protocols",
    "Ask": "events",
    "BadAnswer": "errors",
    "BadPrompt": "errors",
    "Content": "protocols",
    "Error": "events",
    "Event": "events",
    "Extension": "extensions",
    "ExtensionError": "extensions",
    "FakeExhausted": "errors",
    "FakeModel": "models.fake",
    "File": "prompt",
    "Finish": "events",
    "GeminiModel": "models.gemini",
    "Image": "prompt",
    "ModelError": "errors",
    "ModelRefused": "errors",
    "Notice": "events",
    "OpenAiModel": "models.openai",
    "Part": "protocols",
    "PolicyError": "policies.rules",
    "Question": "protocols",
    "Recorder": "models.recorder",
    "Reply": "protocols",
    "Result": "result",
    "Rule": "policies.rules",
    "SdkError": "errors",
    "Session": "session",
    "SessionBusy": "errors",
    "SessionContext": "protocols",
    "SessionNotFound": "errors",
    "SkillDir": "skills",
    "StreamCut": "errors",
    "Subagent": "subagents",
    "SubagentError": "subagents",
    "Terminal": "terminal",
    "Text": "events",
    "Thought": "events",
    "ToolCall": "protocols",
    "ToolError": "tools",
    "ToolRequest": "events",
    "ToolResponse": "events",
    "ToolResult": "protocols",
    "Usage": "events",
    "allow": "policies.rules",
    "ask": "policies.rules",
    "deny": "policies.rules",
    "extension": "extensions",
    "VertexModel": "models.vertex",
    "hook": "hooks",
    "skill_dir": "skills",
    "subagent": "subagents",
    "tool": "tools",
}

__all__ = [
    "Agent",
    "AnthropicModel",
    "Approval",
    "Ask",
    "BadAnswer",
    "BadPrompt",
    "Content",
    "Error",
    "Event",
    "Extension",
    "ExtensionError",
    "FakeExhausted",
    "FakeModel",
    "File",
    "Finish",
    "GeminiCliAgent",
    "GeminiModel",
    "Image",
    "ModelError",
    "ModelRefused",
    "Notice",
    "OpenAiModel",
    "Part",
    "PolicyError",
    "Question",
    "Recorder",
    "Reply",
    "Result",
    "Rule",
    "SdkError",
    "Session",
    "SessionBusy",
    "SessionContext",
    "SessionNotFound",
    "SkillDir",
    "StreamCut",
    "Subagent",
    "SubagentError",
    "Terminal",
    "Text",
    "Thought",
    "ToolCall",
    "ToolError",
    "ToolRequest",
    "ToolResponse",
    "ToolResult",
    "Usage",
    "VertexModel",
    "allow",
    "ask",
    "deny",
    "extension",
    "hook",
    "skill_dir",
    "subagent",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get("Agent" if name == "GeminiCliAgent" else name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"farhand.sdk.{home}"), "Agent" if name == "GeminiCliAgent" else name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
