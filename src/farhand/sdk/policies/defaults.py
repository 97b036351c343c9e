"""The rules that hold when nobody wrote others: looking is free, changing is asked for, each mode with its own."""

from __future__ import annotations

import os
import re
from functools import cache

from farhand.sdk.policies.rules import Decision, Rule, final_priority, pattern
from farhand.sdk.protocols import SessionContext, ToolCall

PLANNING = "only plans are made now, nothing is changed or run."
PLANS_ONLY = "only plans are made now: write them as .md files into the folder for plans, and nothing else."

_LOOKING = (
    "glob grep_search list_directory read_file read_many_files google_web_search get_internal_docs update_topic"
    " write_todos complete_task read_mcp_resource list_mcp_resources codebase_investigator cli_help"
    " tracker_create_task tracker_update_task tracker_get_task tracker_list_tasks tracker_add_dependency"
    " tracker_visualize"
).split()
_CHANGING = ("replace", "write_file", "activate_skill", "web_fetch")
# What a tool says of itself counts as its name does.
_LOOKING_KINDS = frozenset({"read", "search", "think"})
_EDITING_KINDS = frozenset({"edit", "fetch"})
_PLAN_NAME = re.compile(r"[\w-]+\.md", re.ASCII)


@cache
def default_rules() -> tuple[Rule, ...]:
    """The rules of the lowest tier."""
    return (
        _rule("deny", "ask_user", priority=999, interactive=False, reason="nobody is there to answer."),
        _rule("allow", "ask_user", priority=50, interactive=True),
        _rule("allow", *_LOOKING, priority=50),
        _rule("allow", "*", priority=50, kinds=_LOOKING_KINDS),
        _rule("allow", "invoke_agent", priority=50, modes=("default", "auto_edit", "yolo")),
        _rule("ask", *_CHANGING, priority=10, interactive=True),
        # Also with nobody there: a command that only looks runs without a question.
        _rule("ask", "run_shell_command", priority=10),
        _rule("deny", *_CHANGING, priority=10, interactive=False, reason="it needs a person, and nobody is there."),
        _rule("ask", "discovered_tool_*", priority=10, interactive=True),
        _rule("allow", "replace", "write_file", "web_fetch", priority=15, modes=("auto_edit",)),
        _rule("allow", "*", priority=15, modes=("auto_edit",), kinds=_EDITING_KINDS),
        _rule("allow", "*", priority=998, modes=("yolo",), redirection=True),
        *_plan_rules(),
    )


def _plan_rules() -> tuple[Rule, ...]:
    modes = ("plan",)
    agents = r'"agent_name":\s*"(codebase_investigator|cli_help)"'
    plans = Rule(
        "allow",
        ("write_file", "replace"),
        final_priority("default", 70),
        frozenset(modes),
        when=_is_plan,
        source="default",
    )
    return (
        plans,
        _rule("deny", "write_file", "replace", priority=65, modes=modes, reason=PLANS_ONLY),
        _rule("ask", "*", priority=50, modes=modes, mcp="*", annotations=(("readOnlyHint", True),), interactive=True),
        _rule("allow", "invoke_agent", priority=50, modes=modes, arguments=agents),
        _rule("ask", "web_fetch", "activate_skill", priority=50, modes=modes, interactive=True),
        _rule("deny", "*", priority=40, modes=modes, reason=PLANNING),
    )


def _is_plan(call: ToolCall, context: SessionContext | None) -> bool:
    """Whether a call writes a plan into the session's own folder for plans, under that name and through no link."""
    if context is None:
        return False
    from farhand.sdk.context import live

    folder = live(context).plans_folder
    named = os.path.normpath(os.path.join(context.cwd, os.path.expanduser(call.arguments["file_path"])))  # noqa: PTH111, PTH118
    where, name = os.path.split(named)
    return (
        where == str(folder)
        and _PLAN_NAME.fullmatch(name) is not None
        # Only what lies above the folder of all sessions may be a link: somebody's home is where it is.
        and os.path.realpath(named) == os.path.join(os.path.realpath(folder.parent.parent), *folder.parts[-2:], name)  # noqa: PTH118
    )


def _rule(
    decision: Decision,
    *tools: str,
    priority: int,
    modes: tuple[str, ...] = (),
    arguments: str | None = None,
    mcp: str | None = None,
    annotations: tuple[tuple[str, object], ...] = (),
    interactive: bool | None = None,
    redirection: bool = False,
    reason: str = "",
    kinds: frozenset[str] = frozenset(),
) -> Rule:
    return Rule(
        decision,
        tools,
        final_priority("default", priority),
        frozenset(modes),
        arguments=None if arguments is None else pattern(arguments),
        mcp=mcp,
        annotations=annotations,
        interactive=interactive,
        redirection=redirection,
        reason=reason,
        source="default",
        kinds=kinds,
    )
