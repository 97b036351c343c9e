"""Finds subagents on disk: `.gemini/agents/*.md`. One that cannot be used costs that one, and is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.frontmatter import BadHead, read_head
from farhand.sdk.json_shapes import is_list, object_or_empty
from farhand.sdk.subagents import DEFAULT_MAX_TURNS, DEFAULT_TIMEOUT_SECONDS, Subagent, SubagentError, subagent

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.settings import AgentSettings

_KEYS = frozenset(
    "kind name description display_name tools mcp_servers model temperature max_turns timeout_mins".split()
)


def find_subagents(
    agent: Agent, settings: AgentSettings, extensions: Iterable[Path], own: Iterable[Subagent], complaints: list[str]
) -> dict[str, Subagent]:
    """The subagents of a session by name. Where two have one name, the later one wins: code over folder over home."""
    if settings.get("experimental.enableAgents") is False:
        return {one.name: one for one in own}
    folders = list(extensions)
    if agent.loads:
        folders.append(agent.home / ".gemini" / "agents")
        folders += [agent.cwd / ".gemini" / "agents"] if settings.trusted else []
    found = [one for folder in folders for one in read_subagents(folder, complaints)]
    overrides = object_or_empty(settings.get("agents.overrides"))
    named = {one.name: _overridden(one, object_or_empty(overrides.get(one.name))) for one in found}
    off = {name for name, override in overrides.items() if object_or_empty(override).get("enabled") is False}
    kept = {name: one for name, one in named.items() if name not in off}
    return {**kept, **{one.name: one for one in own}}


def read_subagents(folder: Path, complaints: list[str]) -> Iterator[Subagent]:
    """The subagents of a folder."""
    for file in sorted(folder.glob("*.md")):
        if file.name.startswith("_"):
            continue
        try:
            yield _subagent(file)
        except (OSError, UnicodeDecodeError, BadHead, SubagentError) as error:
            complaints.append(f"{file} is no subagent: {error}")


def _subagent(file: Path) -> Subagent:
    head, body = read_head(file.read_text("utf-8"))
    unknown = sorted(set(head) - _KEYS)
    if unknown:
        raise BadHead(f"its head has {', '.join(unknown)}, which nobody knows.")
    for key in ("name", "description"):
        if not isinstance(head.get(key), str):
            raise BadHead(f"its head needs a {key}.")
    if head.get("kind", "local") != "local":
        raise BadHead(f"agents of kind {head['kind']!r} are not run here, only local ones.")
    if head.get("mcp_servers"):
        raise BadHead("MCP servers of a single subagent are not started here; name them in the settings.")
    tools = head.get("tools")
    return subagent(
        name=head["name"],
        description=head["description"],
        instructions=body,
        tools=None if tools is None else _texts(tools),
        model=None if head.get("model") in (None, "inherit") else str(head["model"]),
        temperature=_number(head, "temperature", None),
        max_turns=int(_number(head, "max_turns", DEFAULT_MAX_TURNS) or 0),
        timeout_seconds=(_number(head, "timeout_mins", DEFAULT_TIMEOUT_SECONDS / 60) or 0) * 60,
    )


def _texts(value: Any) -> list[str]:
    if not is_list(value) or not all(isinstance(item, str) for item in value):
        raise BadHead("tools should be a list of names.")
    return value


def _number(head: Mapping[str, Any], key: str, default: float | None) -> float | None:
    value = head.get(key, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise BadHead(f"{key} should be a number, and is {value!r}.")
    return value


def _overridden(one: Subagent, override: Mapping[str, Any]) -> Subagent:
    limits = object_or_empty(override.get("runConfig"))
    model = object_or_empty(override.get("modelConfig")).get("model")
    turns, minutes = limits.get("maxTurns"), limits.get("maxTimeMinutes")
    return replace(
        one,
        model=model if isinstance(model, str) else one.model,
        max_turns=turns if isinstance(turns, int) and turns > 0 else one.max_turns,
        timeout_seconds=minutes * 60 if isinstance(minutes, int | float) and minutes > 0 else one.timeout_seconds,
    )
