"""Reads the CLI's policy files. A rule that cannot be used costs that rule, a file that cannot be read is told."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farhand.sdk.json_shapes import is_list, is_mapping
from farhand.sdk.policies.rules import (
    TIERS,
    Decision,
    PolicyError,
    Rule,
    command_pattern,
    final_priority,
    mode_named,
    pattern,
)

_DECISIONS: dict[str, Decision] = {"allow": "allow", "deny": "deny", "ask_user": "ask"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rules of some files, and what could not be used of them."""

    rules: tuple[Rule, ...] = ()
    complaints: tuple[str, ...] = ()


def read_policies(paths: Iterable[Path], tier: str) -> Loaded:
    """The rules of files, and of the `.toml` files in folders. Paths that are not there say nothing."""
    rules: list[Rule] = []
    complaints: list[str] = []
    for path in paths:
        for file in sorted(path.glob("*.toml")) if path.is_dir() else [path] if path.exists() else []:
            rules += _file(file, tier, complaints)
    return Loaded(tuple(rules), tuple(complaints))


def is_secure(folder: Path) -> bool:
    """Whether a folder is root's and nobody else can write to it. Only such a one may speak for the machine."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == 0 and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _file(file: Path, tier: str, complaints: list[str]) -> Iterator[Rule]:
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        complaints.append(f"{file} cannot be used: {error}.")
        return
    yield from rules_of(content, tier, str(file), complaints)


def rules_of(content: Mapping[str, Any], tier: str, where: str, complaints: list[str]) -> Iterator[Rule]:
    """The rules of one parsed file. An extension may neither allow anything nor speak of the mode yolo."""
    written = content.get("rule", [])
    for number, entry in enumerate(written if is_list(written) else [written], 1):
        try:
            made = _rules(entry, tier, where)
        except PolicyError as error:
            complaints.append(f"{where}, rule {number}: {error}")
            continue
        for rule in made:
            if tier == "extension" and (rule.decision == "allow" or "yolo" in rule.modes):
                complaints.append(f"{where}, rule {number}: an extension cannot {_forbidden(rule)}; it was left out.")
            else:
                yield rule
    checkers = content.get("safety_checker", [])
    for number, entry in enumerate(checkers if is_list(checkers) else [checkers], 1):
        try:
            yield from _checker(entry, tier, where)
        except PolicyError as error:
            complaints.append(f"{where}, safety_checker {number}: {error}")


def _forbidden(rule: Rule) -> str:
    return "allow a tool" if rule.decision == "allow" else "set rules for the mode yolo"


def _rules(entry: Any, tier: str, where: str) -> list[Rule]:
    if not is_mapping(entry):
        raise PolicyError("a rule is a table.")
    decision = _DECISIONS.get(str(entry.get("decision")))
    if decision is None:
        raise PolicyError(f"decision should be allow, deny or ask_user, and is {entry.get('decision')!r}.")
    mcp = _text(entry, "mcpName")
    made = Rule(
        decision,
        tuple(_with_server(mcp, name) for name in _names(entry)),
        _priority(entry, tier),
        frozenset(mode_named(mode) for mode in _listed(entry, "modes")),
        subagent=_text(entry, "subagent"),
        mcp=mcp,
        annotations=tuple(sorted(_table(entry, "toolAnnotations").items())),
        interactive=_flag(entry, "interactive"),
        redirection=_flag(entry, "allowRedirection", "allow_redirection") is True,
        reason=_text(entry, "denyMessage", "deny_message") or "",
        source=f"{tier}: {where}",
    )
    return list(_narrowed(made, entry))


def _narrowed(rule: Rule, entry: Mapping[str, Any]) -> Iterator[Rule]:
    from dataclasses import replace

    prefixes, expression, arguments = _listed(entry, "commandPrefix"), _text(entry, "commandRegex"), None
    given = [key for key in ("commandPrefix", "commandRegex", "argsPattern") if entry.get(key) is not None]
    if len(given) > 1:
        raise PolicyError(f"{' and '.join(given)} exclude one another.")
    if given and given[0].startswith("command") and "run_shell_command" not in rule.tools:
        raise PolicyError(f"{given[0]} needs toolName 'run_shell_command'.")
    arguments = _text(entry, "argsPattern")
    if prefixes:
        for prefix in prefixes:
            yield replace(rule, prefix=prefix)
    elif expression is not None:
        yield replace(rule, command=command_pattern(expression, rule.decision))
    else:
        yield replace(rule, arguments=None if arguments is None else pattern(arguments))


def _checker(entry: Any, tier: str, where: str) -> Iterator[Rule]:
    """A safety checker. The tools keep to the workspace by themselves; any other checker is none of ours and denies."""
    checker = entry.get("checker") if is_mapping(entry) else None
    if not is_mapping(checker):
        raise PolicyError("a safety checker needs a table `checker`.")
    if (checker.get("type"), checker.get("name")) == ("in-process", "allowed-path"):
        return
    name = f"{checker.get('type')}/{checker.get('name')}"
    denies = {**entry, "decision": "deny", "priority": entry.get("priority", 0)}
    denies["denyMessage"] = f"the safety checker {name} should look at it, and is not there."
    yield from _rules(denies, tier, where)
    raise PolicyError(f"there is no checker {name} here. What it should look at is denied.")


def _names(entry: Mapping[str, Any]) -> list[str]:
    names = _listed(entry, "toolName")
    if not names or not all(names):
        raise PolicyError("toolName is missing; '*' means all tools.")
    return names


def _with_server(server: str | None, name: str) -> str:
    if server is None:
        return name
    if server == "":
        raise PolicyError("mcpName is empty.")
    if server == "*":
        return "mcp_*" if name == "*" else name
    return f"mcp_{server}_{name}"


def _priority(entry: Mapping[str, Any], tier: str) -> float:
    priority = entry.get("priority")
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise PolicyError(f"priority should be a whole number of 0 to 999, and is {priority!r}.")
    return final_priority(tier if tier in TIERS else "user", priority)


def _listed(entry: Mapping[str, Any], key: str) -> list[str]:
    value = entry.get(key, [])
    items = [value] if isinstance(value, str) else value
    if not is_list(items) or not all(isinstance(item, str) for item in items):
        raise PolicyError(f"{key} should be a text or a list of texts.")
    return items


def _text(entry: Mapping[str, Any], *keys: str) -> str | None:
    value = next((entry[key] for key in keys if key in entry), None)
    if value is not None and not isinstance(value, str):
        raise PolicyError(f"{keys[0]} should be a text, and is {value!r}.")
    return value


def _flag(entry: Mapping[str, Any], *keys: str) -> bool | None:
    value = next((entry[key] for key in keys if key in entry), None)
    if value is not None and not isinstance(value, bool):
        raise PolicyError(f"{keys[0]} should be true or false, and is {value!r}.")
    return value


def _table(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = entry.get(key, {})
    if not is_mapping(value):
        raise PolicyError(f"{key} should be a table.")
    return value
