"""The built-in tools by name, each with the CLI's name and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farhand.sdk.protocols import Tool, ToolKind
from farhand.sdk.tools.ask_person import ask_user, write_todos
from farhand.sdk.tools.commands import run_shell_command
from farhand.sdk.tools.files import list_directory, read_file, read_many_files, replace, write_file
from farhand.sdk.tools.function import FunctionTool
from farhand.sdk.tools.search import glob, grep_search
from farhand.sdk.tools.web import web_fetch


def _built_in(function: Callable[..., Any], kind: ToolKind, *, waits: bool = False) -> Tool:
    # A person may take their time, and a command has its own limit.
    timeout_seconds = None if waits else 300.0
    return FunctionTool(function, kind=kind, show_errors=True, timeout_seconds=timeout_seconds)


BUILTIN_TOOLS: dict[str, Tool] = {
    made.name: made
    for made in (
        _built_in(list_directory, "read"),
        _built_in(read_file, "read"),
        _built_in(read_many_files, "read"),
        _built_in(glob, "search"),
        _built_in(grep_search, "search"),
        _built_in(write_file, "edit"),
        _built_in(replace, "edit"),
        _built_in(run_shell_command, "execute", waits=True),
        _built_in(web_fetch, "fetch"),
        _built_in(write_todos, "think"),
        _built_in(ask_user, "other", waits=True),
    )
}
