"""Words for a person: what a tool call or a permission request is about, in one line and in full. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from farhand.drivers.opencode.launch import MANIFEST
from farhand.drivers.opencode.schema import OpenCodePermission
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import one_line, pretty_json, tool_title

_PERMISSIONS = {
    "edit": "Change",
    "external_directory": "Reach outside the project:",
    "webfetch": "Fetch",
    "websearch": "Search the web:",
    "read": "Read",
    "task": "Start an agent:",
    "doom_loop": "Go on, though it repeats itself:",
}


def title(tool: str, arguments: Mapping[str, object]) -> str:
    """What the call does, in one line."""
    return tool_title(tool, Fields(arguments), MANIFEST.titles)


def permission_title(wanted: OpenCodePermission) -> str:
    """What permission is asked for, in one line."""
    about = ", ".join(wanted.patterns)
    if wanted.permission == "bash":
        return one_line(f"bash: {_text(wanted.metadata, 'command') or about}")
    if wanted.permission == "edit":
        about = _text(wanted.metadata, "filepath") or about
    return one_line(f"{_PERMISSIONS.get(wanted.permission, wanted.permission)} {about}")


def permission_detail(wanted: OpenCodePermission) -> str:
    """The whole of what will run: the command, the difference, or every field of the request."""
    command, difference = _text(wanted.metadata, "command"), _text(wanted.metadata, "diff")
    if wanted.permission == "bash" and command and set(wanted.metadata) <= {"command", "description"}:
        return command
    if wanted.permission == "edit" and difference and set(wanted.metadata) <= {"filepath", "diff"}:
        return difference
    whole = {"permission": wanted.permission, "patterns": wanted.patterns, **wanted.metadata}
    return pretty_json(whole)


def _text(fields: Mapping[str, object], name: str) -> str:
    found = fields.get(name)
    return found if isinstance(found, str) else ""
