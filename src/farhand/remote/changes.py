"""A tool's call that changes a file, told as a diff: what is there, and what would be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

# More is not read for a comparison; all of what would be written is shown then.
MOST_BYTES = 1_000_000
# Lines around each change, which stay as they are.
CONTEXT = 3
_FIELDS = frozenset("file_path old_string new_string content instruction description".split())


def change_told(arguments: Mapping[str, Any], directory: Path) -> str:
    """The diff, with whatever else the call says below it; empty for a call that changes no file by its words."""
    path, new = arguments.get("file_path"), arguments.get("new_string", arguments.get("content"))
    old = arguments.get("old_string", "") if "new_string" in arguments else None
    if not isinstance(path, str) or not isinstance(new, str) or not (old is None or isinstance(old, str)):
        return ""
    before = _content(directory / path) if old is None else old
    lines = unified_diff(before.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", n=CONTEXT, lineterm="")
    others = {name: value for name, value in arguments.items() if name not in _FIELDS}
    told = json.dumps(others, ensure_ascii=False, indent=2, default=str) if others else ""
    return "\n".join(part for part in ("\n".join(lines), told) if part)


def _content(path: Path) -> str:
    """What the file holds now; nothing where it is not there, or is no text."""
    try:
        return path.read_text("utf-8") if path.is_file() and path.stat().st_size <= MOST_BYTES else ""
    except (OSError, ValueError):
        return ""
