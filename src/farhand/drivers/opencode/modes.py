"""What a worker may do without asking, in OpenCode's own words. Pure data; whatever is not named asks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from farhand.model.words import Mode

MANIFEST: dict[str, Any] = tomllib.loads(Path(__file__).with_name("manifest.toml").read_text("utf-8"))
PLAN_AGENT = "plan"
WORK_AGENT = "build"


def permissions(mode: Mode) -> dict[str, str]:
    """The mode's actions by tool: those of `default`, with its own on top."""
    return {**MANIFEST["modes"]["default"], **MANIFEST["modes"][mode.value]}


def rules(mode: Mode) -> list[dict[str, str]]:
    """The same as a session's rules, of which the last that fits decides."""
    return [rule(tool, "*", action) for tool, action in permissions(mode).items()]


def rule(tool: str, pattern: str, action: str) -> dict[str, str]:
    """One rule of a session."""
    return {"permission": tool, "pattern": pattern, "action": action}


def variables(mode: Mode) -> dict[str, str]:
    """The mode as a process finds it: over the person's own configuration, which stays as it is.

    Sessions that the agent starts for its helpers know only this, so that they ask, too.
    """
    return {"OPENCODE_PERMISSION": msgspec.json.encode(permissions(mode)).decode()}


def passed_on(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables OpenCode needs to reach its models."""
    names, prefixes = set(MANIFEST["passed"]), tuple(MANIFEST["passed_prefixes"])
    return {name: value for name, value in own.items() if name in names or name.startswith(prefixes)}
