"""Words for a person: what a tool call is about, in one line and in full. Pure."""

from __future__ import annotations

import difflib

from farhand.drivers.wires.fields import Fields
from farhand.drivers.wires.titled import in_full, one_line

_PATHS = {"Read": "Read", "Write": "Write", "Edit": "Edit", "MultiEdit": "Edit", "NotebookEdit": "Edit"}
_NAMED = {
    "Glob": ("Find", "pattern"),
    "Grep": ("Search", "pattern"),
    "WebFetch": ("Fetch", "url"),
    "WebSearch": ("Search the web:", "query"),
    "Task": ("Agent:", "description"),
    "Agent": ("Agent:", "description"),
    "Skill": ("Skill:", "skill"),
    "ToolSearch": ("Look for a tool:", "query"),
}
_PLAIN = {
    "TodoWrite": "Update the to-do list",
    "ExitPlanMode": "Present the plan",
    "EnterPlanMode": "Make a plan first",
    "AskUserQuestion": "Ask a question",
    "BashOutput": "Read a command's output",
    "KillShell": "Stop a command",
}


def title(tool: str, arguments: Fields) -> str:
    """What the call does, in one line."""
    return one_line(_title(tool, arguments))


def _title(tool: str, arguments: Fields) -> str:
    if tool == "Bash":
        return arguments.text("description") or arguments.text("command") or "Run a command"
    if tool in _PATHS:
        path = arguments.text("file_path") or arguments.text("notebook_path")
        return f"{_PATHS[tool]} {path}".strip()
    if tool in _NAMED:
        verb, field = _NAMED[tool]
        return f"{verb} {arguments.text(field)}".strip()
    if tool.startswith("mcp__"):
        _, server, name = [*tool.split("__", 2), ""][:3]
        return f"{server}: {name}"
    return _PLAIN.get(tool) or tool or "Use a tool"


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
    return in_full(arguments.plain)


def _difference(arguments: Fields) -> str:
    path = arguments.text("file_path")
    old, new = arguments.text("old_string"), arguments.text("new_string")
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="", n=1000)
    everywhere = "\n(everywhere in the file)" if arguments.flag("replace_all") else ""
    return "\n".join(lines) + everywhere
