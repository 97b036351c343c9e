"""A tool of an MCP server, as the model and the session see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_mapping
from farhand.sdk.mcp.config import tool_name
from farhand.sdk.mcp.connection import McpConnection
from farhand.sdk.protocols import Part, SessionContext, ToolResult
from farhand.sdk.tools.commands import untrusted

LARGEST_SCHEMA_CHARACTERS = 100_000
LONGEST_DESCRIPTION = 10_000


class McpTool:
    """Passes calls on. What the server says of its tool (that it only looks, say) is not believed."""

    kind = "other"
    # The connection has the server's own limit.
    timeout_seconds = None

    def __init__(self, connection: McpConnection, name: str, description: str, parameters: Mapping[str, Any]) -> None:
        server = connection.server
        self.name = tool_name(server.name, name)
        self.description = description
        self.parameters = parameters
        self.trusted = server.trusted
        self.server_name = server.name
        self.server_tool_name = name
        self._connection = connection

    @property
    def mcp_context(self) -> dict[str, Any]:
        """What hooks are told of the server, in the CLI's words."""
        server = self._connection.server
        fields: dict[str, Any] = {"server_name": server.name, "tool_name": self.server_tool_name}
        if server.transport != "stdio":
            return {**fields, "url": server.url}
        cwd = {"cwd": server.cwd} if server.cwd else {}
        return {**fields, "command": server.command, "args": list(server.arguments), **cwd}

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:  # noqa: ARG002
        """Calls the server's tool."""
        try:
            answer = await self._connection.call(self.server_tool_name, arguments)
        except SdkError as error:
            return ToolResult(error=str(error))
        return result_of(answer)


def make_tool(connection: McpConnection, listed: Any) -> McpTool | str:
    """The tool, or a sentence about what is wrong with it."""
    fields: Mapping[str, Any] = listed if is_mapping(listed) else {}
    name, schema, about = fields.get("name"), fields.get("inputSchema"), fields.get("description")
    where = f"MCP server '{connection.server.name}' offers the tool {str(name)[:80]!r}"
    if not isinstance(name, str) or not name.strip():
        return f"{where}, which has no name: it is left out."
    if not is_mapping(schema) or schema.get("type", "object") != "object":
        return f"{where}, whose parameters are no object: it is left out."
    try:
        size = len(json.dumps(schema))
    except (TypeError, ValueError, RecursionError):
        return f"{where}, whose parameters are no JSON: it is left out."
    if size > LARGEST_SCHEMA_CHARACTERS:
        return f"{where}, whose parameters take {size} characters: it is left out."
    return McpTool(connection, name, str(about or "")[:LONGEST_DESCRIPTION], {"type": "object", **schema})


def result_of(answer: Any) -> ToolResult:
    """What a server answered: text marked as foreign, images and sound as data."""
    texts: list[str] = []
    parts: list[Part] = []
    for block in answer.content or ():
        fields = block.model_dump(mode="json", by_alias=True, exclude_none=True)
        match fields:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime_type)}:
                parts.append({"inlineData": {"mimeType": mime_type, "data": data}})
            case {"type": "resource", "resource": {"text": str(text)}}:
                texts.append(text)
            case {"type": "resource", "resource": {"blob": str(data), "mimeType": str(mime_type)}}:
                parts.append({"inlineData": {"mimeType": mime_type, "data": data}})
            case _:
                texts.append(json.dumps(fields))
    if not texts and not parts and answer.structured_content is not None:
        texts.append(json.dumps(answer.structured_content))
    shown = "\n".join(texts)
    if answer.is_error:
        return ToolResult(error=shown or "The server says that the tool failed.")
    said = untrusted(shown)
    return ToolResult(content=[{"text": said}, *parts] if parts else said, display=shown)
