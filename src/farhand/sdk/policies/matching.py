"""Finds the first rule that means a call, quickly: what does not depend on the arguments is decided once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from farhand.sdk.json_shapes import is_mapping, is_sequence
from farhand.sdk.policies.rules import Mode, Rule
from farhand.sdk.protocols import SessionContext, ToolCall

SHELL_TOOLS = frozenset({"run_shell_command", "ShellTool"})
INVOKE_AGENT = "invoke_agent"
MCP_PREFIX = "mcp_"
_ALIASES = {"search_file_content": "grep_search", "grep_search": "search_file_content"}
_ESCAPED_SPACES = frozenset("\t\n\r\f\v\b")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What beside the call counts: the mode, whether somebody can be asked, the folder and whether it is trusted."""

    mode: Mode = "default"
    interactive: bool = True
    cwd: Path = field(default_factory=Path.cwd)
    trusted: bool = True
    subagent: str = ""
    annotations: tuple[tuple[str, Any], ...] = ()
    context: SessionContext | None = None
    # The MCP server of the tool, where that is known; otherwise its name tells it.
    server: str | None = None
    # What the tool says it does; empty where nobody said.
    kind: str = ""


class PolicyQuery:
    """A call as rules look at it."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call

    @property
    def command(self) -> str | None:
        """The shell line, when it has one."""
        command = self.call.arguments.get("command")
        return command if isinstance(command, str) else None

    @cached_property
    def stable(self) -> str:
        """The arguments as JSON with sorted keys; each property of the outermost object stands between two NULs."""
        pairs = [f"\0{_json(key)}:{_json(value)}\0" for key, value in sorted(self.call.arguments.items())]
        return "{" + ",".join(pairs) + "}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which rules may know the tool."""
        name = self.call.name
        agent = self.call.arguments.get("agent_name")
        if name == INVOKE_AGENT and isinstance(agent, str):
            return (name, agent)
        return (name, _ALIASES[name]) if name in _ALIASES else (name,)


class Candidates:
    """The rules that may mean the calls of one tool, in order; those with a command's prefix by its first word."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._by_word: dict[str, list[tuple[int, Rule]]] = {}
        self._general: list[tuple[int, Rule, Callable[[str], object] | None]] = []
        for order, rule in enumerate(rules):
            word = _first_word(rule.prefix)
            if word is None:
                self._general.append((order, rule, _only_pattern(rule)))
            else:
                self._by_word.setdefault(word, []).append((order, rule))

    def first(self, asked: PolicyQuery, context: SessionContext | None) -> Rule | None:
        """The first rule that means the call."""
        command = asked.command
        best = len(self.rules)
        if command is not None and self._by_word:
            word = command.split(" ", 1)[0]
            for order, rule in self._by_word.get(word, ()):
                if means(rule, asked, context):
                    best = order
                    break
        for order, rule, search in self._general:
            if order > best:
                break
            if search(asked.stable) if search is not None else not rule.narrow or means(rule, asked, context):
                return rule
        return self.rules[best] if best < len(self.rules) else None


def means(rule: Rule, asked: PolicyQuery, context: SessionContext | None) -> bool:
    """Whether a rule's patterns and predicate mean the arguments of a call."""
    if rule.prefix is not None and not starts_with(asked.command, rule.prefix):
        return False
    if rule.command is not None and not rule.command.search(asked.stable):
        return False
    if rule.arguments is not None and not rule.arguments.search(asked.stable):
        return False
    return rule.when is None or _holds(rule, asked.call, context)


def starts_with(command: str | None, prefix: str) -> bool:
    """Whether a command starts with these words, and the last of them ends there."""
    if command is None or not command.startswith(prefix):
        return False
    following = command[len(prefix) : len(prefix) + 1]
    return not following or (following.isspace() and following not in _ESCAPED_SPACES)


def applies(rule: Rule, names: Sequence[str], server: str | None, around: Surroundings) -> bool:
    """Whether a rule can mean calls of this tool at all."""
    if rule.modes and around.mode not in rule.modes:
        return False
    if rule.kinds and around.kind not in rule.kinds:
        return False
    if rule.subagent is not None and rule.subagent != around.subagent:
        return False
    if rule.mcp is not None and (server is None if rule.mcp == "*" else server != rule.mcp):
        return False
    if rule.interactive is not None and rule.interactive != around.interactive:
        return False
    known = dict(around.annotations)
    if any(key not in known or known[key] != value for key, value in rule.annotations):
        return False
    return any(_names_tool(pattern, name, server, rule) for pattern in rule.tools for name in names)


def server_of(name: str) -> str | None:
    """The MCP server in a tool's name: what stands between `mcp_` and the next underscore."""
    server, separator, tool = name.removeprefix(MCP_PREFIX).partition("_")
    return server if name.startswith(MCP_PREFIX) and server and separator and tool else None


def _names_tool(pattern: str, name: str, server: str | None, rule: Rule) -> bool:
    if pattern in ("*", name):
        return True
    if pattern == f"{MCP_PREFIX}*":
        return server is not None
    if pattern.startswith(MCP_PREFIX) and pattern.endswith("_*"):
        wanted = pattern[len(MCP_PREFIX) : -2]
        return server == wanted and name.startswith(f"{MCP_PREFIX}{wanted}_")
    # With the server named beside it, a tool may go by its own name.
    return server is not None and rule.mcp is not None and name == f"{MCP_PREFIX}{rule.mcp}_{pattern}"


def _holds(rule: Rule, call: ToolCall, context: SessionContext | None) -> bool:
    assert rule.when is not None  # noqa: S101
    try:
        return bool(rule.when(call, context))
    except Exception:  # noqa: BLE001 - a predicate is foreign code, and a broken one never opens a door
        return rule.decision != "allow"


def _first_word(prefix: str | None) -> str | None:
    if prefix is None or '"' in prefix or not prefix.split(" ", 1)[0]:
        return None
    return prefix.split(" ", 1)[0]


def _only_pattern(rule: Rule) -> Callable[[str], object] | None:
    """The search of a rule that has nothing but one pattern: hundreds of those are tried for one call."""
    alone = rule.arguments is not None and rule.prefix is None and rule.command is None and rule.when is None
    return rule.arguments.search if alone and rule.arguments is not None else None


def _json(value: Any) -> str:
    if is_mapping(value):
        return "{" + ",".join(f"{_json(str(key))}:{_json(value[key])}" for key in sorted(value, key=str)) + "}"
    if is_sequence(value):
        return "[" + ",".join(_json(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)
