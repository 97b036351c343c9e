"""Finds a person's own agent by its name, and makes it a worker's: the phone is asked, the hiring's wishes hold."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from farhand.sdk.agent import Agent
from farhand.sdk.errors import BadAgent
from farhand.sdk.policies.rules import Mode

GROUP = "farhand.agents"
_NAME = re.compile(r"[A-Za-z_][\w.-]*(:[A-Za-z_][\w.]*)?")
# From the one that lets the least happen unasked to the one that lets the most.
_STRICTEST_FIRST: tuple[Mode, ...] = ("plan", "default", "auto_edit", "yolo")


def hired_agent(name: str, model: str, mode: Mode) -> Agent:
    """The agent of a worker: a stock one, or the person's own.

    An own agent keeps its tools, hooks, rules and instructions, and its mode where that is the stricter one. What it
    asks goes to the team's manager.
    """
    if not name:
        return Agent(model=model or None, mode=mode, interactive=True)
    own = find_agent(name)
    stricter = min(own.mode or mode, mode, key=_STRICTEST_FIRST.index)
    agent = own.with_changes(cwd=Path.cwd(), mode=stricter, interactive=True, asker=None, records=True)
    return agent.with_changes(model=model) if model else agent


def find_agent(name: str) -> Agent:
    """The agent behind `package.module:name`, or behind an entry point of the group `farhand.agents`."""
    if not _NAME.fullmatch(name):
        raise BadAgent(f"{name!r} names no agent: say package.module:name, or the name of an entry point.")
    # Behind everything else, so that nothing in the worker's folder stands in for a module of ours or of Python's.
    sys.path.append(str(Path.cwd()))
    try:
        found = _imported(name) if ":" in name else _installed(name)
        made = found() if callable(found) else found
    except BadAgent:
        raise
    except Exception as error:
        raise BadAgent(f"The agent {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(made, Agent):
        raise BadAgent(f"{name!r} is {made!r}: it should be an Agent, or a function that makes one.")
    return made


def _imported(name: str) -> object:
    module, _, path = name.partition(":")
    found: object = import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute)
    return found


def _installed(name: str) -> object:
    known = entry_points(group=GROUP)
    if name not in known.names:
        listing = f" Installed: {', '.join(sorted(known.names))}." if known.names else " None is installed."
        raise BadAgent(f"No agent {name!r} is installed as {GROUP}.{listing} Or say package.module:name.")
    found: object = known[name].load()
    return found
