"""Finds installed extensions in `~/.gemini/extensions`, and lets them speak through the settings."""

from __future__ import annotations

import fnmatch
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.dotenv import read_dotenv
from farhand.sdk.extensions import Extension, ExtensionCommand, ExtensionError
from farhand.sdk.json_shapes import is_list, is_mapping, is_object
from farhand.sdk.settings import Tier, expand

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.policies import Rule
    from farhand.sdk.settings import AgentSettings

MANIFEST = "gemini-extension.json"


def find_extensions(agent: Agent, settings: AgentSettings, complaints: list[str]) -> list[Extension]:
    """The extensions of a session: installed ones, then those given in code. One that is broken costs that one."""
    found: list[Extension] = []
    root = agent.home / ".gemini" / "extensions"
    for manifest in sorted(root.glob(f"*/{MANIFEST}")) if agent.loads else []:
        try:
            one = read_extension(manifest.parent, agent.cwd, settings.environ, complaints)
        except (OSError, ValueError, ExtensionError) as error:
            complaints.append(f"{manifest} is no extension: {error}")
            continue
        if _enabled(one.name, root, agent.cwd, settings):
            found.append(one)
    return [*found, *agent.extensions]


def _enabled(name: str, root: Path, cwd: Path, settings: AgentSettings) -> bool:
    if name in (settings.get("extensions.disabled") or ()):
        return False
    try:
        overrides = json.loads((root / "extension-enablement.json").read_text("utf-8"))[name]["overrides"]
    except (OSError, ValueError, KeyError, TypeError):
        return True
    enabled = True
    here = f"{cwd}/"
    for override in overrides if is_list(overrides) else []:
        pattern = str(override).removeprefix("!")
        if fnmatch.fnmatchcase(here, pattern):
            enabled = not str(override).startswith("!")
    return enabled


def read_extension(folder: Path, cwd: Path, environ: Mapping[str, str], complaints: list[str]) -> Extension:
    """One extension from its folder, as the CLI lays it out."""
    manifest: Any = json.loads((folder / MANIFEST).read_text("utf-8-sig"))
    if not is_object(manifest) or not isinstance(manifest.get("name"), str) or not manifest["name"]:
        raise ExtensionError("it needs a name.")
    own = _own_variables(folder, manifest)
    manifest = filled(expand(manifest, {**environ, **own}), folder, cwd)
    name = manifest["name"]
    excluded = [tool for tool in manifest.get("excludeTools") or () if isinstance(tool, str)]
    return Extension(
        name,
        str(manifest.get("description", "")),
        str(manifest.get("version", "")),
        mcp_servers=_servers(manifest.get("mcpServers"), own),
        commands=_commands(folder / "commands", name, complaints),
        folder=folder,
        memory=_memory(folder, manifest.get("contextFileName")),
        skill_folders=(folder / "skills",),
        agent_folders=(folder / "agents",),
        hook_settings=_hooks(folder, cwd, complaints),
        rules=_rules(folder, name, excluded, complaints),
        excluded_tools=tuple(tool for tool in excluded if "(" not in tool),
    )


def filled(value: Any, folder: Path, cwd: Path) -> Any:
    """Fills `${extensionPath}`, `${workspacePath}` and `${/}` in every string."""
    if isinstance(value, str):
        for name, meant in (
            ("extensionPath", folder),
            ("workspacePath", cwd),
            ("/", os.sep),
            ("pathSeparator", os.sep),
        ):
            value = value.replace(f"${{{name}}}", str(meant))
        return value
    if is_list(value):
        return [filled(item, folder, cwd) for item in value]
    if is_object(value):
        return {key: filled(item, folder, cwd) for key, item in value.items()}
    return value


def extended(settings: AgentSettings, extensions: Sequence[Extension]) -> AgentSettings:
    """The settings with the extensions' MCP servers, hooks and excluded tools. The person's own settings win."""
    if not extensions:
        return settings
    raw = dict(settings.raw)
    servers = {name: server for one in extensions for name, server in one.mcp_servers.items()}
    if servers:
        raw["mcpServers"] = {**servers, **(raw.get("mcpServers") or {})}
    excluded = [tool for one in extensions for tool in one.excluded_tools]
    if excluded:
        tools = dict(raw.get("tools") or {})
        raw["tools"] = {**tools, "exclude": [*(tools.get("exclude") or ()), *excluded]}
    hooked = [one for one in extensions if one.hook_settings]
    if hooked:
        raw["hooks"] = {**(raw.get("hooks") or {}), **{key: [] for one in hooked for key in one.hook_settings}}
    tiers = [Tier("extensions", one.folder or Path(one.name), {"hooks": one.hook_settings}) for one in hooked]
    return replace(settings, raw=raw, tiers=(*settings.tiers, *tiers))


def _own_variables(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """What the person set for the extension: the variables it declares, from its own `.env`."""
    declared = {
        each["envVar"]
        for each in manifest.get("settings") or ()
        if is_mapping(each) and isinstance(each.get("envVar"), str)
    }
    if not declared:
        return {}
    return {name: value for name, value in read_dotenv(folder / ".env").items() if name in declared}


def _servers(servers: Any, own: Mapping[str, str]) -> dict[str, Any]:
    """The extension's MCP servers. It cannot declare them trusted; what the person set for it reaches them."""
    if not is_mapping(servers):
        return {}
    return {
        str(name): {
            **{key: server[key] for key in server if key != "trust"},
            "env": {**own, **(server.get("env") or {})},
        }
        for name, server in servers.items()
        if is_mapping(server)
    }


def _memory(folder: Path, names: Any) -> str:
    from farhand.sdk.memory import joined

    listed = [names] if isinstance(names, str) else names if is_list(names) else ["GEMINI.md"]
    files = [folder / name for name in listed if isinstance(name, str) and (folder / name).is_file()]
    return joined(files, allowed=(folder,))


def _hooks(folder: Path, cwd: Path, complaints: list[str]) -> dict[str, Any]:
    file = folder / "hooks" / "hooks.json"
    if not file.is_file():
        return {}
    try:
        hooks = json.loads(file.read_text("utf-8-sig"))["hooks"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        complaints.append(f"{file} cannot be used: {error!r}.")
        return {}
    return filled(hooks, folder, cwd) if is_object(hooks) else {}


def _rules(folder: Path, name: str, excluded: Sequence[str], complaints: list[str]) -> tuple[Rule, ...]:
    from farhand.sdk.policies.files import read_policies
    from farhand.sdk.policies.rules import Rule as MadeRule

    loaded = read_policies([folder / "policies"], "extension")
    complaints += loaded.complaints
    narrowed = [tool.rstrip(")").split("(", 1) for tool in excluded if "(" in tool]
    reason = f"the extension {name} excludes it."
    denied = [MadeRule("deny", (tool,), 4.4, prefix=prefix, reason=reason, source=name) for tool, prefix in narrowed]
    return (*loaded.rules, *denied)


def _commands(folder: Path, source: str, complaints: list[str]) -> dict[str, ExtensionCommand]:
    found: dict[str, ExtensionCommand] = {}
    for file in sorted(folder.rglob("*.toml")):
        name = ":".join(file.relative_to(folder).with_suffix("").parts)
        try:
            content = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            complaints.append(f"{file} is no command: {error}")
            continue
        if not isinstance(content.get("prompt"), str):
            complaints.append(f"{file} is no command: it needs a prompt.")
            continue
        found[name] = ExtensionCommand(name, content["prompt"], str(content.get("description", "")), source)
    return found
