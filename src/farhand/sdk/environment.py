"""Builds the environment of child processes: the agent's own keys stay behind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

# The keys with which the agent itself speaks to a model: no command and no hook needs them.
MODEL_KEYS = frozenset(
    {"GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}
)
_REDACTION = "security.environmentVariableRedaction"
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|(^|_)KEY$|AUTH|CREDENTIAL|CERT|PRIVATE", re.IGNORECASE)


def child_environment(settings: AgentSettings) -> dict[str, str]:
    """What a child process may see. `security.environmentVariableRedaction` keeps back more, or lets one through."""
    allowed: set[str] = set(settings.granted(f"{_REDACTION}.allowed") or ())
    blocked = {name for each in settings.demanded(f"{_REDACTION}.blocked") for name in each or ()} | MODEL_KEYS
    strict = True in settings.demanded(f"{_REDACTION}.enabled")

    def hidden(name: str) -> bool:
        if name in allowed:
            return False
        return name in blocked or (strict and _SECRET.search(name) is not None)

    return {name: value for name, value in settings.environ.items() if not hidden(name)}


def with_variables(environment: Mapping[str, str], more: Mapping[str, str] | None) -> dict[str, str]:
    """An environment with a few variables on top."""
    return {**environment, **(more or {})}
