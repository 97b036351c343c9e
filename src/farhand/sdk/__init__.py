"""The agent SDK: an agent in a few lines, its sessions, tools and hooks. Names are imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent, Instructions
    from farhand.sdk.agent import Agent as GeminiCliAgent
    from farhand.sdk.agent_options import AgentOptions, Generation
    from farhand.sdk.budget import Budget, BudgetExceeded, BudgetSpent, Price
    from farhand.sdk.errors import (
        BadAgent,
        BadAnswer,
        BadPrompt,
        FakeExhausted,
        ModelError,
        ModelRefused,
        NoAnswer,
        NoKey,
        RecordingTaken,
        SdkError,
        SessionBusy,
        SessionNotFound,
        StreamCut,
    )
    from farhand.sdk.events import (
        Ask,
        Error,
        Event,
        Finish,
        FinishReason,
        Notice,
        Progressed,
        Retrying,
        SubagentEvent,
        Text,
        Thought,
        ToolRequest,
        ToolResponse,
        Usage,
    )
    from farhand.sdk.extensions import Extension, ExtensionError, extension
    from farhand.sdk.hooks import Hook, hook
    from farhand.sdk.messages import HistoryMessage
    from farhand.sdk.models import Model
    from farhand.sdk.models.anthropic import AnthropicModel
    from farhand.sdk.models.fake import FakeModel
    from farhand.sdk.models.gemini import GeminiModel
    from farhand.sdk.models.openai import OpenAiModel
    from farhand.sdk.models.recorder import Recorder
    from farhand.sdk.models.vertex import VertexModel
    from farhand.sdk.policies.rules import Mode, PolicyError, Rule, RuleOptions, allow, ask, deny
    from farhand.sdk.prompt import File, Image, Prompt
    from farhand.sdk.protocols import (
        Approval,
        Approver,
        Asker,
        Content,
        Filesystem,
        Part,
        Question,
        Reply,
        SessionContext,
        Shell,
        ShellProcess,
        ShellResult,
        Tool,
        ToolCall,
        ToolKind,
        ToolResult,
        Verdict,
    )
    from farhand.sdk.recorded_sessions import RecordedSession
    from farhand.sdk.result import Result, UsedTool
    from farhand.sdk.run import Run
    from farhand.sdk.session import Session
    from farhand.sdk.skills import SkillDir, skill_dir
    from farhand.sdk.subagents import Subagent, SubagentError, subagent
    from farhand.sdk.terminal import Terminal
    from farhand.sdk.tools import ToolError, tool
    from farhand.sdk.tools.schema import ToolDefinitionError
    from farhand.sdk.workspace import OutsideWorkspace

_HOMES = {
    "Agent": "agent",
    "AgentOptions": "agent_options",
    "AnthropicModel": "models.anthropic",
    "Approval": "protocols",
    "Approver": "protocols",
    "Ask": "events",
    "Asker": "protocols",
    "BadAgent": "errors",
    "BadAnswer": "errors",
    "BadPrompt": "errors",
    "Budget": "budget",
    "BudgetExceeded": "budget",
    "BudgetSpent": "budget",
    "Content": "protocols",
    "Error": "events",
    "Event": "events",
    "Extension": "extensions",
    "ExtensionError": "extensions",
    "FakeExhausted": "errors",
    "FakeModel": "models.fake",
    "File": "prompt",
    "Filesystem": "protocols",
    "Finish": "events",
    "FinishReason": "events",
    "GeminiModel": "models.gemini",
    "Generation": "agent_options",
    "HistoryMessage": "messages",
    "Hook": "hooks",
    "Image": "prompt",
    "Instructions": "agent",
    "Mode": "policies.rules",
    "Model": "models",
    "ModelError": "errors",
    "ModelRefused": "errors",
    "NoAnswer": "errors",
    "NoKey": "errors",
    "Notice": "events",
    "OpenAiModel": "models.openai",
    "OutsideWorkspace": "workspace",
    "Part": "protocols",
    "PolicyError": "policies.rules",
    "Price": "budget",
    "Progressed": "events",
    "Prompt": "prompt",
    "Question": "protocols",
    "RecordedSession": "recorded_sessions",
    "Recorder": "models.recorder",
    "RecordingTaken": "errors",
    "Reply": "protocols",
    "Result": "result",
    "Retrying": "events",
    "Rule": "policies.rules",
    "RuleOptions": "policies.rules",
    "Run": "run",
    "SdkError": "errors",
    "Session": "session",
    "SessionBusy": "errors",
    "SessionContext": "protocols",
    "SessionNotFound": "errors",
    "Shell": "protocols",
    "ShellProcess": "protocols",
    "ShellResult": "protocols",
    "SkillDir": "skills",
    "StreamCut": "errors",
    "Subagent": "subagents",
    "SubagentError": "subagents",
    "SubagentEvent": "events",
    "Terminal": "terminal",
    "Text": "events",
    "Thought": "events",
    "Tool": "protocols",
    "ToolCall": "protocols",
    "ToolDefinitionError": "tools.schema",
    "ToolError": "tools",
    "ToolKind": "protocols",
    "ToolRequest": "events",
    "ToolResponse": "events",
    "ToolResult": "protocols",
    "Usage": "events",
    "UsedTool": "result",
    "Verdict": "protocols",
    "VertexModel": "models.vertex",
    "allow": "policies.rules",
    "ask": "policies.rules",
    "deny": "policies.rules",
    "extension": "extensions",
    "hook": "hooks",
    "skill_dir": "skills",
    "subagent": "subagents",
    "tool": "tools",
}

__all__ = [
    "Agent",
    "AgentOptions",
    "AnthropicModel",
    "Approval",
    "Approver",
    "Ask",
    "Asker",
    "BadAgent",
    "BadAnswer",
    "BadPrompt",
    "Budget",
    "BudgetExceeded",
    "BudgetSpent",
    "Content",
    "Error",
    "Event",
    "Extension",
    "ExtensionError",
    "FakeExhausted",
    "FakeModel",
    "File",
    "Filesystem",
    "Finish",
    "FinishReason",
    "GeminiCliAgent",
    "GeminiModel",
    "Generation",
    "HistoryMessage",
    "Hook",
    "Image",
    "Instructions",
    "Mode",
    "Model",
    "ModelError",
    "ModelRefused",
    "NoAnswer",
    "NoKey",
    "Notice",
    "OpenAiModel",
    "OutsideWorkspace",
    "Part",
    "PolicyError",
    "Price",
    "Progressed",
    "Prompt",
    "Question",
    "RecordedSession",
    "Recorder",
    "RecordingTaken",
    "Reply",
    "Result",
    "Retrying",
    "Rule",
    "RuleOptions",
    "Run",
    "SdkError",
    "Session",
    "SessionBusy",
    "SessionContext",
    "SessionNotFound",
    "Shell",
    "ShellProcess",
    "ShellResult",
    "SkillDir",
    "StreamCut",
    "Subagent",
    "SubagentError",
    "SubagentEvent",
    "Terminal",
    "Text",
    "Thought",
    "Tool",
    "ToolCall",
    "ToolDefinitionError",
    "ToolError",
    "ToolKind",
    "ToolRequest",
    "ToolResponse",
    "ToolResult",
    "Usage",
    "UsedTool",
    "Verdict",
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
