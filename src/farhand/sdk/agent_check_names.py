"""Finds misspelt names in an agent: of tools in rules, hooks and subagents, of subagents in rules, of hooks' subjects.

Skills, extensions on disk and MCP servers bring tools that nobody knows when an agent is made. So a name is refused
that is nearly one of the known names and none itself; a pattern (`read_files*`) says that another tool is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from farhand.sdk.errors import BadAgent

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent

BUILTIN_NAMES = (
    "list_directory",
    "read_file",
    "read_many_files",
    "glob",
    "grep_search",
    "write_file",
    "replace",
    "run_shell_command",
    "web_fetch",
    "write_todos",
    "ask_user",
)
# Tools of the SDK itself, and the name that the CLI's older versions had for one.
OTHER_NAMES = ("invoke_agent", "activate_skill", "final_result", "search_file_content")
_SUBJECTS = {
    "SessionStart": ("startup", "resume", "clear"),
    "SessionEnd": ("exit", "clear", "logout", "prompt_input_exit", "other"),
    "PreCompress": ("manual", "auto"),
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NEAR = 0.8


def check_names(agent: Agent, own: Iterable[str]) -> None:
    """Raises BadAgent with what was probably meant. `own` are the names of the tools that were given in code."""
    if not (agent.policies or agent.hooks or agent.subagents):
        return
    tools = {*BUILTIN_NAMES, *OTHER_NAMES, *own}
    subagents = {one.name for one in (*agent.subagents, *(one for each in agent.extensions for one in each.subagents))}
    for rule in agent.policies or ():
        for name in rule.tools:
            _check(name, tools, "A rule names the tool")
        if rule.subagent is not None and subagents:
            _check(rule.subagent, subagents, "A rule names the subagent")
    for one in agent.subagents:
        for name in one.tools or ():
            _check(name, tools, f"The subagent {one.name!r} names the tool")
    for hook in agent.hooks:
        _check_matcher(hook.event, (hook.matcher or "").strip(), tools)


def _check_matcher(event: str, matcher: str, tools: Collection[str]) -> None:
    known = _SUBJECTS.get(event)
    if known is not None and matcher not in ("", "*", *known):
        raise BadAgent(f"A hook for {event} waits for {matcher!r}, which never comes. Known: {', '.join(known)}.")
    names_tool = event in ("BeforeTool", "AfterTool") and _PLAIN.fullmatch(matcher) is not None
    if names_tool and not any(matcher in name for name in tools):
        _check(matcher, tools, f"A hook for {event} names the tool")


def _check(name: str, known: Collection[str], what: str) -> None:
    if name in known or not _PLAIN.fullmatch(name) or name.startswith("mcp_"):
        return
    import difflib

    if near := difflib.get_close_matches(name, known, n=1, cutoff=_NEAR):
        raise BadAgent(f"{what} {name!r}. Is {near[0]!r} meant? If not, write it as a pattern: {name + '*'!r}.")
