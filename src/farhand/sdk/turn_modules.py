"""Loads what turns need when an agent is made, in a program that has an event loop: its first prompt does not wait."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent

_EVERY_TURN = (
    "run",
    "session",
    "active_turn",
    "loop",
    "prompt",
    "session_setup",
    "settings",
    "additions",
    "memory",
    "first_message",
    "context",
    "projects",
    "compress",
    "models.choose",
)
_VENDORS = {"openai": "models.openai", "anthropic": "models.anthropic", "vertex": "models.vertex"}


def load_turn_modules(agent: Agent, model: object, *, builtin_tools: bool) -> None:
    """Does so where asyncio is loaded already; whoever only makes an agent, or asks for one name, waits for nothing."""
    if "asyncio" not in sys.modules:
        return
    for name in (*_EVERY_TURN, *_chosen(agent, model, builtin_tools=builtin_tools)):
        import_module(f"farhand.sdk.{name}")


def _chosen(agent: Agent, model: object, *, builtin_tools: bool) -> list[str]:
    """What these options of an agent need."""
    found = ["tools.builtin"] if builtin_tools else []
    if agent.mode is not None or agent.policies is not None:
        found.append("policies.guard")
    if agent.hooks:
        found.append("hooks.system")
    if model is None or isinstance(model, str):
        found += [_VENDORS.get(str(model).partition(":")[0], "models.gemini"), "models.connection"]
    return found
