"""What extensions, skills and subagents add to a session, from code and from disk. Read once, before its first turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.extensions import ExtensionCommand
    from farhand.sdk.policies import Rule
    from farhand.sdk.protocols import Extender, Tool
    from farhand.sdk.settings import AgentSettings
    from farhand.sdk.subagents import Subagent

_HOME_FOLDERS = (".gemini/extensions", ".gemini/skills", ".agents/skills", ".gemini/agents")
_PROJECT_FOLDERS = (".gemini/skills", ".agents/skills", ".gemini/agents")


@dataclass(frozen=True, slots=True)
class Additions:
    """Everything that was added, ready for the session."""

    settings: AgentSettings
    extenders: tuple[Extender, ...] = ()
    tools: tuple[Tool, ...] = ()
    hooks: tuple[Any, ...] = ()
    rules: tuple[Rule, ...] = ()
    memory: str = ""
    subagents: Mapping[str, Subagent] = field(default_factory=dict[str, "Subagent"])
    commands: Mapping[str, ExtensionCommand] = field(default_factory=dict[str, "ExtensionCommand"])
    complaints: tuple[str, ...] = ()


def load_additions(agent: Agent, settings: AgentSettings) -> Additions:
    """Reads them all; an agent that has none, and whose folders have none, costs a few looks at the disk."""
    if not agent.loads_additions or not _any(agent):
        return Additions(settings)
    from farhand.sdk.extensions.load import extended, find_extensions
    from farhand.sdk.skills.read import find_skills
    from farhand.sdk.subagents.read import find_subagents

    complaints: list[str] = []
    extensions = find_extensions(agent, settings, complaints)
    settings = extended(settings, extensions)
    own_skills = [
        *(path for each in extensions for path in each.skills),
        *(one.path for one in agent.skills),
    ]
    skills = find_skills(
        agent, settings, [path for each in extensions for path in each.skill_folders], own_skills, complaints
    )
    given = [*(one for each in extensions for one in each.subagents), *agent.subagents]
    subagents = find_subagents(
        agent, settings, [path for each in extensions for path in each.agent_folders], given, complaints
    )
    return Additions(
        settings,
        tuple(_extenders(skills, subagents, extensions)),
        tuple(tool for each in extensions for tool in each.tools),
        tuple(hook for each in extensions for hook in each.hooks),
        tuple(rule for each in extensions for rule in each.rules),
        "\n".join(each.memory for each in extensions if each.memory),
        subagents,
        {name: command for each in extensions for name, command in each.commands.items()},
        tuple(complaints),
    )


def _extenders(skills: Any, subagents: Any, extensions: Any) -> list[Extender]:
    found: list[Extender] = []
    if any(each.instructions is not None for each in extensions):
        from farhand.sdk.extensions.extender import ExtensionInstructions

        found.append(ExtensionInstructions([each.instructions for each in extensions]))
    if skills:
        from farhand.sdk.skills.extender import Skills

        found.append(Skills(skills))
    if subagents:
        from farhand.sdk.subagents.extender import Subagents

        found.append(Subagents(subagents))
    return found


def _any(agent: Agent) -> bool:
    if agent.skills or agent.subagents or agent.extensions:
        return True
    if not agent.loads:
        return False
    folders = [*(agent.home / name for name in _HOME_FOLDERS), *(Path(agent.cwd) / name for name in _PROJECT_FOLDERS)]
    return any(folder.is_dir() for folder in folders)
