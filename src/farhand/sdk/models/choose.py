"""Chooses a model by its name, the environment and the settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import BadAgent
from farhand.sdk.models.http import RetryPolicy

if TYPE_CHECKING:
    from farhand.sdk.models import Model
    from farhand.sdk.settings import AgentSettings


VENDORS = ("openai", "anthropic", "vertex")
# Names that are never Gemini's, and where they are at home.
_THEIRS = {"openai": r"gpt-|chatgpt|o[1-9](-|$)|codex-", "anthropic": r"claude-"}


def model_name(given: Any, settings: AgentSettings) -> str:
    """The name that counts: the agent's own, GEMINI_MODEL, then `model.name`. `auto` leaves the choice to us."""
    named = given if isinstance(given, str) else getattr(given, "name", "")
    for name in (named, settings.environ.get("GEMINI_MODEL"), settings.get("model.name")):
        if isinstance(name, str) and name and name != "auto":
            return name
    return ""


def bare_name(name: str) -> str:
    """The name that the model's own server knows."""
    vendor, colon, rest = name.partition(":")
    return rest if colon and vendor in VENDORS else name


def check_name(name: str) -> None:
    """Raises for a name that would be sent to the wrong address."""
    vendor, colon, rest = name.partition(":")
    if not name.strip() or (colon and not rest.strip()):
        raise BadAgent(f"{name!r} is no name of a model.")
    if colon and vendor not in VENDORS:
        raise BadAgent(f"There is no vendor {vendor!r} in {name!r}. Known: {', '.join(VENDORS)}; Gemini needs none.")
    if not colon:
        for owner, pattern in _THEIRS.items():
            if re.match(pattern, name, re.IGNORECASE):
                raise BadAgent(f"{name!r} is no model of Gemini's: say '{owner}:{name}'.")


def choose_model(name: str, settings: AgentSettings) -> Model:
    """The model behind a name: `openai:…`, `anthropic:…` and `vertex:…` go there, everything else is Gemini's."""
    check_name(name)
    environ = settings.environ
    retry_policy = RetryPolicy(attempts=max(1, int(settings.get("general.maxAttempts", 6))))
    vendor, _, _ = name.partition(":")
    if vendor == "openai":
        from farhand.sdk.models.openai import OpenAiModel

        return OpenAiModel.from_environment(environ, retry_policy=retry_policy)
    if vendor == "anthropic":
        from farhand.sdk.models.anthropic import AnthropicModel

        return AnthropicModel.from_environment(environ, retry_policy=retry_policy)
    if vendor == "vertex" or _wants_vertex(settings):
        from farhand.sdk.models.vertex import VertexModel

        return VertexModel.from_environment(environ, retry_policy=retry_policy)
    from farhand.sdk.models.gemini import GeminiModel

    return GeminiModel.from_environment(environ, retry_policy=retry_policy)


def _wants_vertex(settings: AgentSettings) -> bool:
    if settings.environ.get("GOOGLE_GENAI_USE_VERTEXAI", "").lower() in ("true", "1"):
        return True
    return bool(settings.get("security.auth.selectedType") == "vertex-ai")
