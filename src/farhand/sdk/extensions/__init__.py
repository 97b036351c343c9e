"""Extensions: instructions, tools, skills, hooks, subagents and rules in one piece, in code or from disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import SdkError

if TYPE_CHECKING:
    from farhand.sdk.agent import Instructions
    from farhand.sdk.hooks import Hook
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
    hooks: tuple[Hook[Any, Any], ...] = ()
    subagents: tuple[Subagent, ...] = ()
    rules: tuple[Rule, ...] = ()
    mcp_servers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    commands: Mapping[str, ExtensionCommand] = field(default_factory=dict[str, ExtensionCommand])
    folder: Path | None = None
    memory: str = ""
    skill_folders: tuple[Path, ...] = ()
    agent_folders: tuple[Path, ...] = ()
    hook_settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    excluded_tools: tuple[str, ...] = ()


def extension(
    *,
    name: str,
    description: str = "",
    instructions: Instructions = None,
    tools: Sequence[Tool | Callable[..., Any]] = (),
    skills: Sequence[SkillDir] = (),
    hooks: Sequence[Hook[Any, Any]] = (),
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
    _check(name, skills, hooks, subagents, policies, mcp_servers)
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


def _check(
    name: str,
    skills: Sequence[object],
    hooks: Sequence[object],
    subagents: Sequence[object],
    policies: Sequence[object],
    mcp_servers: Mapping[str, object] | None,
) -> None:
    """Raises an error with a sentence for the first part that is not what it should be."""
    from farhand.sdk.agent_check import all_are
    from farhand.sdk.skills import SkillDir

    all_are(skills, SkillDir, f"The extension {name!r}: skills", "a folder of skills", 'skill_dir("./my-skill")')
    if hooks:
        from farhand.sdk.hooks.define import Hook

        all_are(hooks, Hook, f"The extension {name!r}: hooks", "a hook", "what @hook made of a function")
    if subagents:
        from farhand.sdk.subagents import Subagent

        all_are(subagents, Subagent, f"The extension {name!r}: subagents", "a subagent", "subagent(name=…, …)")
    if policies:
        from farhand.sdk.policies.rules import Rule

        all_are(policies, Rule, f"The extension {name!r}: policies", "a rule", 'allow("read_file")')
    for server, described in (mcp_servers or {}).items():
        from farhand.sdk.mcp.config import read_server

        read_server(server, described)
