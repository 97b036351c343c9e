"""MCP servers as tools of an agent. Needs the extra `farhand[mcp]`, which is imported when a server is reached."""

from __future__ import annotations

from farhand.sdk.mcp.config import McpServer, from_client, from_settings, read_server
from farhand.sdk.mcp.extender import McpServers

__all__ = ["McpServer", "McpServers", "from_client", "from_settings", "read_server"]
