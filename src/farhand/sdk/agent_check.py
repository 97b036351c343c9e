"""Looks an agent over when it is made: whatever is wrong with it is a sentence then, never later and never silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.agent_check_names import BUILTIN_NAMES, check_names
from farhand.sdk.agent_check_values import check_values
from farhand.sdk.errors import BadAgent

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.sandbox import ShellSandbox
    from farhand.sdk.telemetry import Telemetry

_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_RESERVED_TOOLS = frozenset({"final_result", "invoke_agent", "activate_skill"})


def check_agent(agent: Agent, model: object, tools: Sequence[object], builtin_tools: object) -> None:
    """Raises BadAgent, or the error of the part that is wrong."""
    if not agent.cwd.is_dir():
        raise BadAgent(f"cwd is {str(agent.cwd)!r}, which is no folder.")
    check_values(agent)
    _check_model(model)
    _check_functions(agent)
    names = _check_tools(tools, builtin_tools)
    if agent.mode is not None:
        from farhand.sdk.policies.rules import mode_named

        mode_named(agent.mode)
    _check_parts(agent)
    brought = [tool.name for each in agent.extensions for tool in each.tools]
    if twice := _twice([*names, *brought]):
        raise BadAgent(f"Two tools are called {twice!r}, one of them in an extension.")
    check_names(agent, [*names, *brought])
    agent.missing_deps = _check_deps(agent, tools)


def open_surroundings(sandbox: object, telemetry: object) -> tuple[ShellSandbox | None, Telemetry | None]:
    """The sandbox and the telemetry that were asked for. Raises when they cannot be had here."""
    engine, told = None, None
    if sandbox:
        from farhand.sdk.sandbox import engine_of

        engine = engine_of(sandbox)
    if telemetry:
        from farhand.sdk.telemetry import Telemetry as Opened

        if telemetry is not True and not isinstance(telemetry, Opened):
            raise BadAgent(f"telemetry is {telemetry!r}: give True, or Telemetry(…).")
        told = telemetry if isinstance(telemetry, Opened) else Opened()
    return engine, told


def _check_model(model: object) -> None:
    if model is None:
        return
    if isinstance(model, str):
        from farhand.sdk.models.choose import check_name

        check_name(model)
    elif not all(hasattr(model, name) for name in ("generate", "stream", "count")):
        raise BadAgent(f"{model!r} is no model: give a name, or an object with generate, stream and count.")


def _check_functions(agent: Agent) -> None:
    for name, given, method in (("approver", agent.approver, "approve"), ("asker", agent.asker, "ask")):
        if given is not None and not callable(given) and not hasattr(given, method):
            raise BadAgent(f"{name} is {given!r}: give a function, or an object with a method {method!r}.")


def _check_tools(tools: Sequence[object], builtin_tools: object) -> list[str]:
    if not isinstance(builtin_tools, bool):
        _check_builtin(builtin_tools)
    if not tools:
        return []
    from farhand.sdk.tools import as_tool

    names = [as_tool(tool).name for tool in tools]  # type: ignore[arg-type]
    for name in names:
        if not _TOOL_NAME.fullmatch(name):
            raise BadAgent(f"{name!r} is no name for a tool: letters, digits, _ - . : and a letter first.")
        if name in _RESERVED_TOOLS:
            raise BadAgent(f"{name!r} is a tool of the SDK itself; give yours another name.")
    if twice := _twice(names):
        raise BadAgent(f"Two tools are called {twice!r}.")
    return names


def _check_deps(agent: Agent, tools: Sequence[object]) -> str:
    """Raises for `deps` of another class than a tool wants; what to say to one who begins a session without any."""
    brought = [tool for each in agent.extensions for tool in each.tools]
    # A subagent that has none works with those of its parent.
    below = [each.agent.missing_deps for each in agent.subagents if each.agent is not None]
    missing = next((sentence for sentence in below if sentence), "") if agent.deps is None else ""
    if not tools and not brought:
        return missing
    from farhand.sdk.tools import FunctionTool, as_tool

    for tool in [*(as_tool(each) for each in tools), *brought]:  # type: ignore[arg-type]
        wanted = tool.deps_type if isinstance(tool, FunctionTool) else None
        if wanted is None or isinstance(agent.deps, wanted):
            continue
        sentence = f"The tool {tool.name!r} wants deps to be a {wanted.__name__}"
        if agent.deps is None:
            return f"{sentence}: give it with Agent(deps=…), or with_changes(deps=…)."
        raise BadAgent(f"{sentence}; deps is {agent.deps!r}.")
    return missing


def _check_builtin(wanted: object) -> None:
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise BadAgent(f"builtin_tools is {wanted!r}: give True, False, or a list of names.")
    names: list[object] = [*wanted]
    for name in names:
        if name not in BUILTIN_NAMES:
            raise BadAgent(f"There is no built-in tool {name!r}. Known: {', '.join(BUILTIN_NAMES)}.")


def _check_parts(agent: Agent) -> None:
    if agent.policies:
        from farhand.sdk.policies.rules import Rule

        all_are(agent.policies, Rule, "policies", "a rule", 'allow("read_file")')
    if agent.hooks:
        from farhand.sdk.hooks.define import Hook

        all_are(agent.hooks, Hook, "hooks", "a hook", "what @hook made of a function")
    if agent.skills:
        from farhand.sdk.skills import SkillDir

        all_are(agent.skills, SkillDir, "skills", "a folder of skills", 'skill_dir("./my-skill")')
        agent.skills = tuple(SkillDir(_folder(agent, skill.path)) for skill in agent.skills)
    if agent.subagents:
        from farhand.sdk.subagents import Subagent

        all_are(agent.subagents, Subagent, "subagents", "a subagent", "subagent(name=…, description=…, …)")
        if twice := _twice([one.name for one in agent.subagents]):
            raise BadAgent(f"Two subagents are called {twice!r}.")
    if agent.extensions:
        from farhand.sdk.extensions import Extension

        all_are(agent.extensions, Extension, "extensions", "an extension", "extension(name=…, …)")
        if twice := _twice([one.name for one in agent.extensions]):
            raise BadAgent(f"Two extensions are called {twice!r}.")
        agent.extensions = tuple(
            replace(each, skills=tuple(_folder(agent, path) for path in each.skills)) for each in agent.extensions
        )


def _folder(agent: Agent, path: Path) -> Path:
    """A folder of skills. A relative one means the folder of the agent as it was made, wherever that works later."""
    folder = agent.cwd / path
    if not folder.is_dir():
        raise BadAgent(f"skill_dir({str(path)!r}): {folder} is no folder.")
    return folder


def all_are(given: Sequence[Any], kind: type, name: str, what: str, example: str) -> None:
    """Raises BadAgent for the first that is of another kind."""
    for one in given:
        if not isinstance(one, kind):
            raise BadAgent(f"{name} has {one!r}, which is not {what}; give {example}.")


def _twice(names: Sequence[str]) -> str | None:
    return next((name for index, name in enumerate(names) if name in names[:index]), None)
