"""Extensions: instructions, tools, skills, hooks, subagents and rules in one piece, in code or from disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import SdkError

if TYPE_CHECKING:
    from farhand.sdk.agent import Instructions
    from farhand.sdk.policies import Rule
    from farhand.sdk.protocols import Tool
    from farhand.sdk.skills import SkillDir
    from farhand.sdk.subagents import Subagent

__all__ = ["Extension", "ExtensionCommand", "ExtensionError", "extension"]


class ExtensionError(SdkError):
    """An extension that cannot be used."""

    kind = "extension"


@dataclass(frozen=True, slots=True)
class ExtensionCommand:
    """A prompt with a name: `/name arguments`."""

    name: str
    prompt: str
    description: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Extension:
    """One extension. What it brings from disk stands in `memory` and in the folders; the rest comes from code."""

    name: str
    description: str = ""
    version: str = ""
    instructions: Instructions = None
    tools: tuple[Tool, ...] = ()
    skills: tuple[Path, ...] = ()
    hooks: tuple[Any, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    rules: tuple[Rule, ...] = ()
    mcp_servers: Mapping[str, Any] = field(default_factory=dict)
    commands: Mapping[str, ExtensionCommand] = field(default_factory=dict)
    folder: Path | None = None
    memory: str = ""
    skill_folders: tuple[Path, ...] = ()
    agent_folders: tuple[Path, ...] = ()
    hook_settings: Mapping[str, Any] = field(default_factory=dict)
    excluded_tools: tuple[str, ...] = ()


def extension(
    *,
    name: str,
    description: str = "",
    instructions: Instructions = None,
    tools: Sequence[Tool | Callable[..., Any]] = (),
    skills: Sequence[SkillDir] = (),
    hooks: Sequence[Any] = (),
    subagents: Sequence[Subagent] = (),
    policies: Sequence[Rule] = (),
    mcp_servers: Mapping[str, Any] | None = None,
    commands: Mapping[str, str] | None = None,
    exclude_tools: Sequence[str] = (),
) -> Extension:
    """Makes an extension in code: `Agent(extensions=[extension(name="mine", tools=[…])])`.

    Its instructions are added to the agent's. `commands` are prompts by name, in which `{{args}}` is filled in.
    """
    from farhand.sdk.tools import as_tool

    if not name.strip():
        raise ExtensionError("An extension needs a name.")
    made = {each: ExtensionCommand(each, prompt, source=name) for each, prompt in (commands or {}).items()}
    return Extension(
        name,
        description,
        instructions=instructions,
        tools=tuple(as_tool(tool) for tool in tools),
        skills=tuple(skill.path for skill in skills),
        hooks=tuple(hooks),
        subagents=tuple(subagents),
        rules=tuple(policies),
        mcp_servers=dict(mcp_servers or {}),
        commands=made,
        excluded_tools=tuple(exclude_tools),
    )
