"""Words for a person: what a tool call or a permission request is about, in one line and in full. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from farhand.drivers.opencode.launch import MANIFEST
from farhand.drivers.opencode.schema import OpenCodePermission
from farhand.drivers.wires.asks.actions import compact_json
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import pretty_json, tool_title
from farhand.model.action import Action, ActionKind, call, files, run


def title(tool: str, arguments: Mapping[str, object]) -> str:
    """What the call does, in one line."""
    return tool_title(tool, Fields(arguments), MANIFEST.titles)


def permission_action(wanted: OpenCodePermission) -> Action:
    """What would be done."""
    given = Fields(wanted.metadata)
    match wanted.permission:
        case "bash" if command := given.text("command") or ", ".join(wanted.patterns):
            return run(command)
        case "edit" if paths := (given.text("filepath"),) if given.text("filepath") else tuple(wanted.patterns):
            return files(ActionKind.EDIT, *paths)
        case "read" if wanted.patterns:
            return files(ActionKind.READ, *wanted.patterns)
        case "webfetch" if address := given.text("url") or ", ".join(wanted.patterns):
            return Action(kind=ActionKind.FETCH, target=address)
        case _:
            return call(wanted.permission, compact_json({"patterns": wanted.patterns, **wanted.metadata}))


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
