"""Which MCP servers there are and how to reach them: from settings.json, from an ACP client, from code. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_list, is_mapping, is_sequence

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

CALL_TIMEOUT_SECONDS = 600.0
NAME_LIMIT = 63


class BadServer(SdkError):
    """A configured server that cannot be reached by what it says."""

    kind = "mcp"


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: a program to start (`stdio`), or an address (`http`: streamable HTTP, `sse`: the older way)."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    command: str = ""
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: float = CALL_TIMEOUT_SECONDS
    trusted: bool = False
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()

    def offers(self, tool: str) -> bool:
        """Whether a tool is wanted: exclusion counts more than inclusion; `tool(…)` includes the tool."""
        if tool in self.exclude:
            return False
        return self.include is None or any(each == tool or each.startswith(f"{tool}(") for each in self.include)


def tool_name(server: str, tool: str) -> str:
    """The name under which the model knows a tool, as the CLI makes it: one that the model's API accepts."""
    whole = f"{server}_{tool}"
    clean = re.sub(r"[^a-zA-Z0-9_\-.:]", "_", whole if whole.startswith("mcp_") else f"mcp_{whole}")
    return clean if len(clean) <= NAME_LIMIT else f"{clean[:30]}...{clean[-30:]}"


def read_server(name: str, raw: Any) -> McpServer:
    """A server as settings.json describes it. Raises BadServer with a sentence."""
    if not is_mapping(raw):
        raise BadServer(f"MCP server '{name}': its settings must be an object.")
    timeout = raw.get("timeout")
    included = raw.get("includeTools")
    return McpServer(
        name=name,
        **_reached(name, raw),
        timeout_seconds=timeout / 1000 if isinstance(timeout, int | float) and timeout > 0 else CALL_TIMEOUT_SECONDS,
        trusted=raw.get("trust") is True,
        include=None if included is None else _texts(included),
        exclude=_texts(raw.get("excludeTools")),
    )


def _reached(name: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    kind, url = raw.get("type"), raw.get("httpUrl") or raw.get("url")
    if isinstance(url, str) and url:
        if not url.startswith(("http://", "https://")):
            raise BadServer(f"MCP server '{name}': {url!r} is no address that begins with http:// or https://.")
        streams = bool(raw.get("httpUrl")) or kind == "http"
        return {"transport": "http" if streams else "sse", "url": url, "headers": _pairs(raw.get("headers"))}
    command = raw.get("command")
    if isinstance(command, str) and command:
        cwd = raw.get("cwd")
        return {
            "transport": "stdio",
            "command": command,
            "arguments": _texts(raw.get("args")),
            "env": _pairs(raw.get("env")),
            "cwd": cwd if isinstance(cwd, str) and cwd else None,
        }
    raise BadServer(f"MCP server '{name}' needs a command, an httpUrl or a url.")


def from_settings(settings: AgentSettings) -> tuple[list[McpServer], list[str]]:
    """The servers that settings.json names and allows, and what is wrong with the others."""
    configured = settings.get("mcpServers")
    if not is_mapping(configured) or not configured:
        return [], []
    if not settings.trusted:
        return [], ["MCP servers are not started: the folder is not trusted."]
    allowed = [each for each in settings.demanded("mcp.allowed") if each]
    excluded = [name for each in settings.demanded("mcp.excluded") for name in each]
    servers: list[McpServer] = []
    problems: list[str] = []
    for name, raw in configured.items():
        if name in excluded or any(name not in each for each in allowed):
            continue
        try:
            read = read_server(name, raw)
            servers.append(replace(read, trusted=read.trusted and not settings.is_project_server(name)))
        except BadServer as problem:
            problems.append(str(problem))
    return servers, problems


def from_client(raw: Any) -> list[McpServer]:
    """The servers that an ACP client wants in a session; they are never trusted."""
    servers: list[McpServer] = []
    for each in raw if is_list(raw) else ():
        if is_mapping(each):
            fields = {**each, "trust": False, "env": _named(each.get("env")), "headers": _named(each.get("headers"))}
            servers.append(read_server(str(each.get("name") or "unnamed"), fields))
    return servers


def _named(pairs: Any) -> dict[str, str]:
    found = [each for each in (pairs if is_list(pairs) else ()) if is_mapping(each)]
    return {str(each.get("name", "")): str(each.get("value", "")) for each in found}


def _pairs(raw: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in raw.items()} if is_mapping(raw) else {}


def _texts(raw: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in (raw if is_sequence(raw) else ()))
