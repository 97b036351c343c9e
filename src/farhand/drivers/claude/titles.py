"""Words for a person: what a tool call is about, in one line and in full. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import one_line, pretty_json, tool_title

TITLES: Mapping[str, str] = MANIFEST["titles"]


def title(tool: str, arguments: Fields) -> str:
    """What the call does, in one line."""
    if tool.startswith("mcp__"):
        _, server, name = [*tool.split("__", 2), ""][:3]
        return one_line(f"{server}: {name}")
    return tool_title(tool, arguments, TITLES)


def detail(tool: str, arguments: Fields) -> str:
    """The whole of what will run: the command, the difference, the text; nothing left out."""
    if tool == "Bash" and set(arguments.plain) <= {"command", "description", "timeout", "run_in_background"}:
        return arguments.text("command")
    if tool == "Edit" and arguments.text("file_path"):
        return _difference(arguments)
    if tool == "Write" and arguments.text("file_path"):
        return f"{arguments.text('file_path')}\n\n{arguments.text('content')}"
    if tool == "ExitPlanMode" and arguments.text("plan"):
        return arguments.text("plan")
    return pretty_json(arguments.plain) if arguments else ""


def _difference(arguments: Fields) -> str:
    path = arguments.text("file_path")
    old, new = arguments.text("old_string"), arguments.text("new_string")
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="", n=1000)
    everywhere = "\n(everywhere in the file)" if arguments.flag("replace_all") else ""
    return "\n".join(lines) + everywhere
