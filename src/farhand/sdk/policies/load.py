"""Gathers the rules that hold in a session: from code, files, settings and extensions, over the default ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.json_shapes import is_list, is_mapping
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.files import Loaded, is_secure, read_policies
from farhand.sdk.policies.rules import Rule

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

_NARROWED = re.compile(r"([a-zA-Z0-9_-]+)\((.*)\)", re.DOTALL)
_SHELL_NAMES = ("run_shell_command", "ShellTool")
_NOT_PLANNING = frozenset({"default", "auto_edit", "yolo"})
_ASKING = frozenset({"default", "auto_edit", "plan"})


def load_rules(
    settings: AgentSettings,
    home: Path,
    own: Sequence[Rule] = (),
    extensions: Sequence[Rule] = (),
    *,
    defaults: bool = True,
) -> Loaded:
    """Every rule of a session, in no order: their priorities have it."""
    files = [_user_files(settings, home), _admin_files(settings)]
    complaints = [complaint for loaded in files for complaint in loaded.complaints]
    configured = list(_configured(settings))
    found = [rule for loaded in files for rule in loaded.rules]
    # A tool that the person allows by its name may be another one here: the project says what answers to it.
    asked = [
        _server_rule("ask", server, 4.34, "mcpServers of the project", _ASKING, tool="mcp_*")
        for server in _project_servers(settings)
    ]
    below = (*asked, *default_rules()) if defaults else ()
    return Loaded((*own, *configured, *found, *extensions, *below), tuple(complaints))


def _user_files(settings: AgentSettings, home: Path) -> Loaded:
    named = settings.granted("policyPaths")
    paths = [Path(path).expanduser() for path in _texts(named)] or [home / ".gemini" / "policies"]
    return read_policies(paths, "user")


def _admin_files(settings: AgentSettings) -> Loaded:
    folder = Path("/Library/Application Support/GeminiCli" if sys.platform == "darwin" else "/etc/gemini-cli")
    system = folder / "policies"
    if is_secure(system) and any(system.glob("*.toml")):
        return read_policies([system], "admin")
    return read_policies([Path(path).expanduser() for path in _texts(settings.granted("adminPolicyPaths"))], "admin")


def _configured(settings: AgentSettings) -> Iterator[Rule]:
    """The rules that settings.json has in other words. What allows counts from the person's and the system's file
    alone; what forbids counts from each."""
    for server in _all_texts(settings, "mcp.excluded"):
        yield _server_rule("deny", server, 4.9, "mcp.excluded", frozenset())
    for tool in _all_texts(settings, "tools.exclude"):
        yield Rule("deny", (tool,), 4.4, source="settings: tools.exclude", reason="the settings exclude this tool.")
    for tool in _all_texts(settings, "tools.confirmationRequired"):
        yield Rule("ask", (_shell_name(tool),), 4.35, source="settings: tools.confirmationRequired")
    yield from _listed_tools(_texts(settings.granted("tools.allowed")), 4.3, "tools.allowed", frozenset())
    yield from _core(settings)
    for server, wanted in _servers(settings.granted("mcpServers")):
        if wanted.get("trust") is True and not settings.is_project_server(server):
            yield _server_rule("allow", server, 4.2, "mcpServers.trust", _NOT_PLANNING)
    for server in _texts(settings.granted("mcp.allowed")):
        # A name that the project defines itself, or `*` where it defines any, would let it permit itself.
        if settings.is_project_server(server) or (server == "*" and _has_project_servers(settings)):
            continue
        yield _server_rule("allow", server, 4.1, "mcp.allowed", _NOT_PLANNING)


def _core(settings: AgentSettings) -> Iterator[Rule]:
    """`tools.core`: what it lists may run, and nothing else. A project's own list only takes away."""
    lacks = "tools.core lacks it."
    granted = settings.granted("tools.core")
    if is_list(granted):
        yield from _listed_tools(_texts(granted), 4.25, "tools.core", _NOT_PLANNING)
        yield Rule("deny", ("*",), 4.24, _NOT_PLANNING, source="settings: tools.core", reason=lacks)
    for listed in settings.demanded("tools.core"):
        if is_list(listed) and listed != granted:
            names = frozenset(_shell_name(tool.partition("(")[0]) for tool in _texts(listed))
            yield Rule(
                "deny",
                ("*",),
                4.45,
                _NOT_PLANNING,
                when=lambda call, _, names=names: call.name not in names,  # type: ignore[misc]
                source="settings: tools.core",
                reason=lacks,
            )


def _has_project_servers(settings: AgentSettings) -> bool:
    return any(settings.is_project_server(name) for name, _ in _servers(settings.get("mcpServers")))


def _project_servers(settings: AgentSettings) -> list[str]:
    """The servers that the project's own file defines; those of extensions are the person's choice."""
    own = [tier.values.get("mcpServers") for tier in settings.tiers if tier.name == "project"]
    return [name for servers in own for name, _ in _servers(servers) if settings.is_project_server(name)]


def _all_texts(settings: AgentSettings, path: str) -> list[str]:
    return list(dict.fromkeys(text for said in settings.demanded(path) for text in _texts(said)))


def _listed_tools(tools: Sequence[str], priority: float, source: str, modes: frozenset[str]) -> Iterator[Rule]:
    narrowed = False
    for tool in tools:
        match = _NARROWED.fullmatch(tool)
        name = _shell_name(match[1] if match else tool)
        prefix = match[2] if match and name == _SHELL_NAMES[0] else None
        narrowed = narrowed or prefix is not None
        yield Rule("allow", (name,), priority, modes, prefix=prefix, source=f"settings: {source}")
    if narrowed and source == "tools.allowed":
        reason = "only the commands that tools.allowed lists may run."
        yield Rule("deny", (_SHELL_NAMES[0],), priority - 0.01, modes, source=f"settings: {source}", reason=reason)


def _server_rule(
    decision: Any, server: str, priority: float, source: str, modes: frozenset[str], tool: str = ""
) -> Rule:
    name = tool or ("mcp_*" if server == "*" else f"mcp_{server}_*")
    return Rule(decision, (name,), priority, modes, mcp=server, source=f"settings: {source}")


def _shell_name(tool: str) -> str:
    return _SHELL_NAMES[0] if tool in _SHELL_NAMES else tool


def _servers(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if not is_mapping(value):
        return []
    return [(str(name), server) for name, server in value.items() if is_mapping(server)]


def _texts(value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value if is_list(value) else []
    return [item for item in items if isinstance(item, str)]
