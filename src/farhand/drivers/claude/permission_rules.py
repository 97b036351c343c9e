"""The rules that an answer gives Claude Code: the narrowest there are, with reach and lifetime in words. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from farhand.drivers.wires.asks.build import short_label
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.phrases import phrase
from farhand.model.words import Phrase, Word

EDITORS: Final = frozenset("Edit MultiEdit Write NotebookEdit".split())
READERS: Final = frozenset(("Read",))
# Tools without a narrower rule that Claude Code would hold to.
_NARROW_ONLY: Final = EDITORS | READERS | {"Bash", "WebFetch", "ExitPlanMode", "AskUserQuestion"}
# In a rule they stand for something else than themselves.
_WILD_IN_COMMANDS: Final = lazy_pattern(r"[*\\\n]|:\*?$")
_WILD_IN_PATHS: Final = lazy_pattern(r"[*?\[\]{}!#\\\s()]")
_HOST: Final = lazy_pattern(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
# Where a rule is kept: what is said of its lifetime, and its file.
_LIFETIMES: Final = {
    "session": ("scope_rules_session", ""),
    "localSettings": ("scope_rules_folder", ".claude/settings.local.json"),
    "projectSettings": ("scope_rules_project", ".claude/settings.json"),
    "userSettings": ("scope_rules_user", "~/.claude/settings.json"),
}


class SessionRule(Word):
    """What is allowed from now on until the session ends."""

    label: Phrase
    scope: Phrase
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
    label = short_label(phrase("label_allow_every_session", tool=tool), "label_allow_tool_session")
    return SessionRule(label=label, scope=phrase("scope_every_use", tool=tool), tool=tool)


def _for_command(command: str) -> SessionRule | None:
    if not command.strip() or command != command.strip() or _WILD_IN_COMMANDS.search(command):
        return None
    label, scope = phrase("label_allow_command_session"), phrase("scope_command")
    return SessionRule(label=label, scope=scope, tool="Bash", content=command)


def _for_file(tool: str, verb: str, path: str) -> SessionRule | None:
    if not path.startswith("/") or "/../" in path or _WILD_IN_PATHS.search(path):
        return None
    label, scope = phrase(f"label_allow_file_{verb}_session"), phrase(f"scope_file_{verb}", path=path)
    # A path from the root has two slashes in a rule: one alone begins where the settings are.
    return SessionRule(label=label, scope=scope, tool=tool, content=f"/{path}")


def _for_host(address: str) -> SessionRule | None:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return None
    if not _HOST.fullmatch(host):
        return None
    scope = phrase("scope_pages", host=host)
    label = short_label(phrase("label_allow_what_session", what=host), "label_allow_host_session")
    return SessionRule(label=label, scope=scope, tool="WebFetch", content=f"domain:{host}")


def is_understood(suggestion: Fields) -> bool:
    """Whether a rule that Claude Code proposes allows something, and its reach and lifetime are known."""
    allows = suggestion.text("type") == "addRules" and suggestion.text("behavior") == "allow"
    return allows and bool(suggestion.list("rules")) and suggestion.text("destination") in _LIFETIMES


def lasting_label(suggestion: Fields) -> Phrase:
    """What its button says; a rule that has no room there is called the one below."""
    if suggestion.text("destination") == "session":
        return short_label(phrase("label_allow_what_session", what=_rules(suggestion)), "label_allow_rule_session")
    return short_label(phrase("label_always_allow_what", what=_rules(suggestion)), "label_always_allow_rule")


def lasting_scope(suggestion: Fields) -> Phrase:
    """The whole rule, and where and how long it holds."""
    code, file = _LIFETIMES[suggestion.text("destination")]
    return phrase(code, rules=_rules(suggestion), **({"file": file} if file else {}))


def _rules(suggestion: Fields) -> str:
    rules = suggestion.list("rules")
    return ", ".join(f"{rule.text('toolName')}({rule.text('ruleContent') or '*'})" for rule in rules)
