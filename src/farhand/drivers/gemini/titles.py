"""Words for a person: what a tool call of the Gemini CLI is about, in one line and in full. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from farhand.drivers.gemini.launch import MANIFEST
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import one_line, pretty_json, tool_title

TITLES: Mapping[str, str] = MANIFEST["titles"]


def title(tool: str, arguments: Fields) -> str:
    """What the call does, in one line."""
    if tool.startswith("mcp_"):
        server, _, name = tool.removeprefix("mcp_").partition("_")
        return one_line(f"{server}: {name}")
    return tool_title(tool, arguments, TITLES)


def detail(tool: str, arguments: Fields) -> str:
    """The whole of what will run; nothing left out."""
    if tool == "run_shell_command" and set(arguments.plain) <= {"command", "description"}:
        return arguments.text("command")
    if tool == "write_file" and set(arguments.plain) <= {"file_path", "content"}:
        return f"{arguments.text('file_path')}\n\n{arguments.text('content')}"
    return pretty_json(arguments.plain)
