"""The options of an agent as types, for the checker: what `Agent(…)` and `agent.with_changes(…)` take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from farhand.sdk.agent import Answer, Instructions
from farhand.sdk.budget import Budget, Price
from farhand.sdk.extensions import Extension
from farhand.sdk.hooks import Hook
from farhand.sdk.models import Model
from farhand.sdk.policies.rules import Mode, Rule
from farhand.sdk.protocols import Approver, Asker, Extender, Question, SessionContext, Tool, ToolCall, Verdict
from farhand.sdk.sandbox import ShellSandbox
from farhand.sdk.skills import SkillDir
from farhand.sdk.subagents import Subagent
from farhand.sdk.telemetry import Telemetry


class Thinking(TypedDict, total=False):
    """How much a model thinks, and whether it says so."""

    includeThoughts: bool
    thinkingBudget: int
    thinkingLevel: Literal["low", "medium", "high"]


class Generation(TypedDict, total=False):
    """Gemini's `generationConfig`; other vendors get what they have a word for."""

    temperature: float
    topP: float
    topK: int
    maxOutputTokens: int
    stopSequences: list[str]
    seed: int
    presencePenalty: float
    frequencyPenalty: float
    candidateCount: int
    responseMimeType: str
    responseJsonSchema: dict[str, Any]
    responseModalities: list[str]
    mediaResolution: str
    thinkingConfig: Thinking


class AgentOptions(TypedDict, total=False):
    """Every option of an agent."""

    cwd: str | Path | None
    model: str | Model | None
    instructions: Instructions
    tools: Sequence[Tool | Callable[..., Any]]
    hooks: Sequence[Hook[Any, Any]]
    builtin_tools: bool | Sequence[str]
    system_prompt: str | None
    generation: Generation | None
    approver: Approver | Callable[[ToolCall, SessionContext], Verdict | Awaitable[Verdict]] | None
    asker: Asker | Callable[[Question, SessionContext], Answer | Awaitable[Answer]] | None
    interactive: bool
    policies: Sequence[Rule] | None
    mode: Mode | None
    skills: Sequence[SkillDir]
    subagents: Sequence[Subagent]
    extensions: Sequence[Extension]
    extenders: Sequence[Extender]
    max_turns: int
    budget: Budget | None
    prices: Mapping[str, Price] | None
    deps: object
    sandbox: bool | ShellSandbox | None
    telemetry: bool | Telemetry | None
    tool_timeout_seconds: float
    loads: bool
    records: bool
    trusted: bool | None
    home: str | Path | None
    environ: Mapping[str, str] | None
