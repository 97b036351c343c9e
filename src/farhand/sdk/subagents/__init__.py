"""Subagents: agents that an agent can hand a task to. Each works in a session of its own."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from farhand.sdk.errors import SdkError

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.protocols import SessionContext

__all__ = ["Subagent", "SubagentError", "subagent"]

DEFAULT_MAX_TURNS = 30
DEFAULT_TIMEOUT_SECONDS = 600.0
_NAME = re.compile(r"[a-zA-Z0-9_-]+")

Instructions: TypeAlias = "str | Callable[[str, SessionContext], str | Awaitable[str]]"


class SubagentError(SdkError):
    """A subagent that cannot be made."""

    kind = "subagent"


@dataclass(frozen=True, slots=True)
class Subagent:
    """One subagent. It has instructions, and then works as its parent does; or it is a whole agent of its own.

    `tools` are the names of those of the parent's tools that it may use (`*`, `mcp_*` and `mcp_<server>_*` name many);
    None means all of them. Without a `model` it has its parent's.
    """

    name: str
    description: str
    instructions: Instructions | None = None
    agent: Agent | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    temperature: float | None = None
    max_turns: int = DEFAULT_MAX_TURNS
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS


def subagent(
    *,
    name: str,
    description: str,
    instructions: Instructions | None = None,
    agent: Agent | None = None,
    tools: Sequence[str] | None = None,
    model: str | None = None,
    temperature: float | None = None,
    max_turns: int = DEFAULT_MAX_TURNS,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> Subagent:
    """Makes a subagent of instructions (text, or a function of the prompt and the context) or of a whole agent."""
    if not _NAME.fullmatch(name):
        raise SubagentError(f"A subagent's name is made of letters, digits, - and _; {name!r} is not.")
    if not description.strip():
        raise SubagentError(f"The subagent {name!r} needs a description: the model chooses by it.")
    if (instructions is None) == (agent is None):
        raise SubagentError(f"The subagent {name!r} needs either instructions or an agent.")
    _check(name, agent, tools, model)
    if max_turns < 1 or timeout_seconds <= 0:
        raise SubagentError(f"The subagent {name!r} needs at least one turn, and some time.")
    named = None if tools is None else tuple(tools)
    return Subagent(name, description, instructions, agent, named, model, temperature, max_turns, timeout_seconds)


def _check(name: str, agent: object, tools: Any, model: str | None) -> None:
    """Raises for parts that are none, which only those without a type checker can give."""
    if agent is not None:
        from farhand.sdk.agent import Agent as WholeAgent

        if not isinstance(agent, WholeAgent):
            raise SubagentError(f"The subagent {name!r} has the agent {agent!r}, which is none; give Agent(…).")
    if isinstance(tools, str) or not all(isinstance(each, str) for each in tools or ()):
        raise SubagentError(f"The subagent {name!r} has the tools {tools!r}: give a list of names.")
    if model is not None:
        from farhand.sdk.models.choose import check_name

        check_name(model)
