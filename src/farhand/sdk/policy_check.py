"""Tells whether a session has any policies at all: one that has none need not load the engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.settings import AgentSettings

_SETTINGS = (
    "general.defaultApprovalMode",
    "tools.exclude",
    "tools.allowed",
    "tools.core",
    "tools.confirmationRequired",
    "mcp.excluded",
    "mcp.allowed",
    "policyPaths",
    "adminPolicyPaths",
)
_SYSTEM_FOLDERS = (Path("/etc/gemini-cli/policies"), Path("/Library/Application Support/GeminiCli/policies"))


def is_guarded(agent: Agent, settings: AgentSettings) -> bool:
    """Whether the agent, the settings or the folders of policies say anything."""
    if agent.policies is not None or agent.mode is not None:
        return True
    if not agent.loads:
        return False
    if any(settings.get(path) is not None for path in _SETTINGS):
        return True
    return any(folder.is_dir() for folder in (agent.home / ".gemini" / "policies", *_SYSTEM_FOLDERS))
