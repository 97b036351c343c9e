"""Cuts long output for the model and keeps the whole of it in a file that the model can read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.protocols import SessionContext, ToolResult

DEFAULT_LIMIT_CHARACTERS = 40_000
LARGEST_KEPT_CHARACTERS = 50_000_000


def kept_short(result: ToolResult, name: str, context: SessionContext) -> ToolResult:
    """A result whose text a model can take; what was cut out is left in a file of the session."""
    from farhand.sdk.context import LiveContext

    text = result.content
    if not isinstance(text, str) or not isinstance(context, LiveContext):
        return result
    limit = int(context.settings.get("tools.truncateToolOutputThreshold", DEFAULT_LIMIT_CHARACTERS))
    if limit <= 0 or len(text) <= limit:
        return result
    try:
        kept = str(keep(text, context.temporary_folder, name, context.next_number()))
    except OSError:
        kept = None
    return replace(result, content=cut(text, limit, kept), display=cut(result.display, limit, kept))


def cut(text: str, limit: int, kept_in: str | None) -> str:
    """The first fifth and the last four fifths of the limit, with a line between them that says where the rest is."""
    if limit <= 0 or len(text) <= limit:
        return text
    head = limit // 5
    tail = limit - head
    where = f" The whole of it is in {kept_in}: read it with read_file and start_line." if kept_in else ""
    left_out = len(text) - head - tail
    return f"{text[:head]}\n... {left_out} characters left out here.{where}\n{text[-tail:]}"


def keep(text: str, folder: Path, name: str, number: int) -> Path:
    """Writes the whole text to a new file, readable by its owner alone, and returns the path."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60] or "tool"
    path = folder / f"{safe}_{number}.txt"
    path.touch(mode=0o600)
    path.write_text(text[:LARGEST_KEPT_CHARACTERS], "utf-8", errors="replace")
    return path
