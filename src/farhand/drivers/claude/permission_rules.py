"""The rules that an answer gives Claude Code: the narrowest there are, with reach and lifetime in words. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from farhand.drivers.wires.asks.build import UNTIL_SESSION_ENDS
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.model.words import Word

# What a button has room for; a longer rule stands whole in the card alone.
LONGEST_LABEL: Final = 56
EDITORS: Final = frozenset("Edit MultiEdit Write NotebookEdit".split())
READERS: Final = frozenset(("Read",))
# Tools without a narrower rule that Claude Code would hold to.
_NARROW_ONLY: Final = EDITORS | READERS | {"Bash", "WebFetch", "ExitPlanMode", "AskUserQuestion"}
# In a rule they stand for something else than themselves.
_WILD_IN_COMMANDS: Final = re.compile(r"[*\\\n]|:\*?$")
_WILD_IN_PATHS: Final = re.compile(r"[*?\[\]{}!#\\\s()]")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_LIFETIMES: Final = {
    "session": UNTIL_SESSION_ENDS,
    "localSettings": "for good: in .claude/settings.local.json, for every later session in this folder",
    "projectSettings": "for good: in .claude/settings.json, for every later session and everybody who has this project",
    "userSettings": "for good: in your own ~/.claude/settings.json, for every session in every folder",
}


class SessionRule(Word):
    """What is allowed from now on until the session ends."""

    label: str
    scope: str
    tool: str
    content: str = ""

    @property
    def update(self) -> JsonObject:
        """As Claude Code takes it."""
        rule: JsonObject = {"toolName": self.tool}
        if self.content:
            rule["ruleContent"] = self.content
        return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}


def session_rule(tool: str, arguments: Fields) -> SessionRule | None:
    """The narrowest rule that allows the same again; None where every rule would allow more than can be said."""
    if tool == "Bash":
        return _for_command(arguments.text("command"))
    if tool in EDITORS:
        return _for_file("Edit", "change", arguments.text("file_path") or arguments.text("notebook_path"))
    if tool in READERS:
        return _for_file("Read", "read", arguments.text("file_path"))
    if tool == "WebFetch":
        return _for_host(arguments.text("url"))
    if not tool or tool in _NARROW_ONLY:
        return None
    scope = f"Every use of {tool}, whatever it is given, {UNTIL_SESSION_ENDS}."
    return SessionRule(label=fitting(f"Allow every {tool} for this session"), scope=scope, tool=tool)


def _for_command(command: str) -> SessionRule | None:
    if not command.strip() or command != command.strip() or _WILD_IN_COMMANDS.search(command):
        return None
    scope = f"This very command, letter by letter, {UNTIL_SESSION_ENDS}."
    return SessionRule(label="Allow this command for this session", scope=scope, tool="Bash", content=command)


def _for_file(tool: str, verb: str, path: str) -> SessionRule | None:
    if not path.startswith("/") or "/../" in path or _WILD_IN_PATHS.search(path):
        return None
    what = f"change {path} in any way" if verb == "change" else f"read {path}"
    scope = f"To {what}, and no other file, {UNTIL_SESSION_ENDS}."
    # A path from the root has two slashes in a rule: one alone begins where the settings are.
    return SessionRule(label=f"Allow to {verb} this file for this session", scope=scope, tool=tool, content=f"/{path}")


def _for_host(address: str) -> SessionRule | None:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return None
    if not _HOST.fullmatch(host):
        return None
    scope = f"To fetch any page of {host}, {UNTIL_SESSION_ENDS}."
    label = fitting(f"Allow {host} for this session", "Allow this host for this session")
    return SessionRule(label=label, scope=scope, tool="WebFetch", content=f"domain:{host}")


def is_understood(suggestion: Fields) -> bool:
    """Whether a rule that Claude Code proposes allows something, and its reach and lifetime are known."""
    allows = suggestion.text("type") == "addRules" and suggestion.text("behavior") == "allow"
    return allows and bool(suggestion.list("rules")) and suggestion.text("destination") in _LIFETIMES


def lasting_label(suggestion: Fields) -> str:
    """What its button says; a rule that has no room there is called the one below."""
    for_session = suggestion.text("destination") == "session"
    words = f"Allow {_rules(suggestion)} for this session" if for_session else f"Always allow {_rules(suggestion)}"
    return fitting(words, "Allow this rule for this session" if for_session else "Always allow this rule")


def lasting_scope(suggestion: Fields) -> str:
    """The whole rule, and where and how long it holds."""
    return f"Whatever fits {_rules(suggestion)}, {_LIFETIMES[suggestion.text('destination')]}."


def _rules(suggestion: Fields) -> str:
    rules = suggestion.list("rules")
    return ", ".join(f"{rule.text('toolName')}({rule.text('ruleContent') or '*'})" for rule in rules)


def fitting(label: str, otherwise: str = "Allow this tool for this session") -> str:
    """The label, or a shorter one where a button would cut it."""
    return label if len(label) <= LONGEST_LABEL else otherwise
