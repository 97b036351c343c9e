"""What a permission for the session gives over ACP: this very command, one file, or this very call, and no more."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from farhand.model.visible import visible
from farhand.sdk import wire
from farhand.sdk.policies.matching import SHELL_TOOLS
from farhand.sdk.policies.protected_paths import edit_risk
from farhand.sdk.protocols import Question, ToolCall

_EDITS = frozenset({"write_file", "replace"})
_BEFORE_CALL = "permission-"


@dataclass(frozen=True, slots=True)
class LastingPermission:
    """What the option says that it gives, and by what the same thing is known again."""

    words: str
    key: tuple[str, ...]


def lasting_permission(question: Question, call: ToolCall, cwd: Path) -> LastingPermission:
    """What *for this session* means for that call."""
    # A subagent may work in another folder: what it was permitted is its own.
    asker = question.id.partition(_BEFORE_CALL)[0]
    if call.name in SHELL_TOOLS:
        given = {name: value for name, value in call.arguments.items() if name != "description"}
        return LastingPermission("Allow this command for this session", (asker, "command", wire.compact(given)))
    path = call.arguments.get("file_path")
    if call.name in _EDITS and not asker and isinstance(path, str) and edit_risk(path, cwd) is None:
        real = os.path.realpath(cwd / Path(path).expanduser())
        shown = os.path.relpath(real, os.path.realpath(cwd))
        named = real if shown.startswith("..") else shown
        return LastingPermission(f"Allow every change of {visible(named)} for this session", (asker, "file", real))
    return LastingPermission(
        "Allow this very call for this session", (asker, "call", call.name, wire.compact(call.arguments))
    )
