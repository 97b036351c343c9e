"""Tools: your own from typed functions, and the built-in ones under the CLI's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from farhand.sdk.tools.function import FunctionTool, tool
from farhand.sdk.tools.result import ToolError
from farhand.sdk.tools.schema import ToolDefinitionError

if TYPE_CHECKING:
    from farhand.sdk.protocols import Tool
    from farhand.sdk.settings import AgentSettings

__all__ = ["FunctionTool", "ToolDefinitionError", "ToolError", "as_tool", "builtin_tools", "tool"]


def as_tool(thing: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is; a plain function made into one."""
    from farhand.sdk.protocols import Tool as ToolLike

    if isinstance(thing, ToolLike):
        return thing
    if callable(thing):
        return FunctionTool(thing)
    raise ToolDefinitionError(f"{thing!r} is no tool; give a function, or what @tool made of one.")


def builtin_tools(settings: AgentSettings) -> list[Tool]:
    """The built-in tools that the settings leave in place (`tools.core`, `tools.exclude`, `useWriteTodos`)."""
    from farhand.sdk.tools.builtin import BUILTIN_TOOLS

    listed = [{_plain_name(entry) for entry in core} for core in settings.demanded("tools.core")]
    excluded = {name for each in settings.demanded("tools.exclude") for name in each}
    names = [name for name in BUILTIN_TOOLS if all(name in core for core in listed)]
    if settings.get("useWriteTodos") is False:
        excluded.add("write_todos")
    return [BUILTIN_TOOLS[name] for name in names if name not in excluded]


def _plain_name(entry: str) -> str:
    # `run_shell_command(git)` names the tool and, for policies, what it may run.
    return entry.partition("(")[0].strip()
