"""Hooks from code and from settings, and an event that they hear, for every test about hooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from farhand.sdk.context import LiveContext
from farhand.sdk.hooks import Hook, load_hooks
from farhand.sdk.hooks.system import Hooks
from farhand.sdk.hooks.words import EventName
from farhand.sdk.protocols import HookOutcome
from farhand.sdk.settings import AgentSettings, Tier
from farhand.testing.sdk_env import PATH

TOOL: dict[str, Any] = {"tool_name": "write_file", "tool_input": {"file_path": "a.txt", "content": "text"}}


def tier(name: str, hooks: Any) -> Tier:
    return Tier(name, Path(f"/{name}/settings.json"), {"hooks": hooks})


def commands(event: str, *lines: str, matcher: str | None = None, sequential: bool = False, **more: Any) -> Any:
    group = {"hooks": [{"type": "command", "command": line, **more} for line in lines], "sequential": sequential}
    return {event: [group | ({"matcher": matcher} if matcher is not None else {})]}


def system(*hooks: Hook[Any, Any], config: Any = None, environ: Mapping[str, str] | None = None) -> Hooks:
    tiers = (tier("user", config),) if config is not None else ()
    return load_hooks(hooks, AgentSettings(tiers=tiers, environ={"PATH": PATH, **(environ or {})}))


async def fire(made: Hooks, context: LiveContext, event: EventName = "BeforeTool", **fields: Any) -> HookOutcome:
    return await made.fire(event, fields or dict(TOOL), context)
