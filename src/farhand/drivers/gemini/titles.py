"""Words for a person: what a tool call of the Gemini CLI is about, in one line and in full. Pure."""

from __future__ import annotations

from farhand.drivers.wires.fields import Fields
from farhand.drivers.wires.titled import in_full, one_line

_FIELDS = {
    "read_file": ("Read", "file_path"),
    "write_file": ("Write", "file_path"),
    "replace": ("Edit", "file_path"),
    "list_directory": ("List", "dir_path"),
    "glob": ("Find", "pattern"),
    "grep_search": ("Search", "pattern"),
    "search_file_content": ("Search", "pattern"),
    "web_fetch": ("Fetch", "prompt"),
    "google_web_search": ("Search the web:", "query"),
    "activate_skill": ("Skill:", "name"),
    "invoke_agent": ("Agent:", "agent_name"),
    "update_topic": ("Topic:", "title"),
    "read_mcp_resource": ("Read", "uri"),
}
_PLAIN = {
    "write_todos": "Update the to-do list",
    "ask_user": "Ask a question",
    "enter_plan_mode": "Make a plan first",
    "exit_plan_mode": "Present the plan",
    "read_many_files": "Read files",
}


def title(tool: str, arguments: Fields) -> str:
    """What the call does, in one line."""
    return one_line(_title(tool, arguments))


def _title(tool: str, arguments: Fields) -> str:
    if tool == "run_shell_command":
        return arguments.text("description") or arguments.text("command") or "Run a command"
    if tool in _FIELDS:
        verb, field = _FIELDS[tool]
        return f"{verb} {arguments.text(field)}".strip()
    if tool.startswith("mcp_"):
        server, _, name = tool.removeprefix("mcp_").partition("_")
        return f"{server}: {name}"
    return _PLAIN.get(tool) or tool or "Use a tool"


def detail(tool: str, arguments: Fields) -> str:
    """The whole of what will run; nothing left out."""
    if tool == "run_shell_command" and set(arguments.plain) <= {"command", "description"}:
        return arguments.text("command")
    if tool == "write_file" and set(arguments.plain) <= {"file_path", "content"}:
        return f"{arguments.text('file_path')}\n\n{arguments.text('content')}"
    return in_full(arguments.plain)
