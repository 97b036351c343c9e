"""A tool call of any agent as an action: what would be done, read off the arguments themselves. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

import msgspec

from farhand.drivers.wires.foreign_json import Fields
from farhand.model import action as actions
from farhand.model.action import Action, ActionKind
from farhand.model.lazy_pattern import lazy_pattern

# What the agents call their tools.
_TOOLS: Final[Mapping[ActionKind, frozenset[str]]] = {
    ActionKind.RUN: frozenset("Bash bash shell exec_command local_shell run_shell_command execute".split()),
    ActionKind.WRITE: frozenset("Write write write_file".split()),
    ActionKind.EDIT: frozenset("Edit MultiEdit NotebookEdit edit replace apply_patch patch move".split()),
    ActionKind.DELETE: frozenset(("delete",)),
    ActionKind.READ: frozenset("Read Glob Grep LS read glob grep read_file list_directory grep_search".split()),
    ActionKind.FETCH: frozenset("WebFetch webfetch web_fetch fetch".split()),
}
_PATHS: Final = ("file_path", "notebook_path", "filePath", "filepath", "abs_path", "path", "dir_path")
_PATCHED: Final = lazy_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)


def action_of(tool: str, arguments: Fields, name: str = "") -> Action:
    """What the call would do. One whose arguments do not fit its tool is shown with all of them, and so is one of a
    tool that is not known; `name` is what the agent calls it."""
    kind = next((kind for kind, tools in _TOOLS.items() if tool in tools), ActionKind.CALL)
    match kind:
        case ActionKind.RUN if command := command_of(arguments):
            return actions.run(command)
        case ActionKind.FETCH if address := _address(tool, arguments):
            return Action(kind=kind, target=address)
        case ActionKind.WRITE | ActionKind.EDIT | ActionKind.DELETE | ActionKind.READ if paths := _paths(arguments):
            return actions.files(kind, *paths)
        case _:
            return actions.call(name or tool, compact_json(arguments.plain) if arguments else "")


def command_of(arguments: Fields) -> str:
    """The command of a shell tool, as a line or as its words; none where it can be read in two ways."""
    if "command" in arguments and "cmd" in arguments:
        return ""
    match arguments.any("command") or arguments.any("cmd"):
        case str(line):
            return line
        case [*words]:
            return shlex.join(map(str, words)) if all(isinstance(word, str) for word in words) else ""
        case _:
            return ""


def names_command(arguments: Fields) -> bool:
    """Whether a shell tool might find something to run in them."""
    return "command" in arguments or "cmd" in arguments


def patched_paths(patch: str) -> tuple[str, ...]:
    """The files that a patch changes, where it has a header for each."""
    return tuple(one or other for one, other in _PATCHED.findall(patch))


def compact_json(value: object) -> str:
    """All of it, as JSON on one line."""
    return msgspec.json.encode(value).decode()


def _address(tool: str, arguments: Fields) -> str:
    """What the tool fetches, by the argument that it takes; none where another one might be it."""
    if tool == "web_fetch":
        return arguments.text("prompt") if set(arguments.plain) == {"prompt"} else ""
    others = {name: value for name, value in arguments.plain.items() if name != "url"}
    is_sure = tool != "fetch" or "://" not in compact_json(others)
    return arguments.text("url") if is_sure else ""


def _paths(arguments: Fields) -> tuple[str, ...]:
    found = tuple(path for name in _PATHS if (path := arguments.text(name)))
    return found or patched_paths(arguments.text("patch") or arguments.text("input") or arguments.text("command"))
