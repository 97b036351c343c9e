"""Judges tool calls by rules: the first match decides, shell lines by their worst part. Asks nobody, runs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.policies.matching import SHELL_TOOLS, Candidates, PolicyQuery, Surroundings, applies, server_of
from farhand.sdk.policies.protected_paths import EditRisk, edit_risk, edited_paths
from farhand.sdk.policies.rules import HARDNESS, Decision, Rule
from farhand.sdk.protocols import ToolCall

if TYPE_CHECKING:
    from farhand.sdk.policies.shell import ShellLine

MOST_COMMANDS = 500
UNREADABLE = "the command cannot be taken apart, so nobody can say what it does."
DANGEROUS = "the command can do great harm."
REDIRECTED = "the command writes to or reads from a file by redirection."
OUTSIDE = "the command would run outside the workspace."
UNTRUSTED_GIT = "git runs what a folder's configuration says, and this folder is not trusted."
UNKNOWN_NAME = "a shell would make up the command's name, so nobody can say whether it is a denied one."
PROTECTED = "this file configures a tool that will run what it says; changing it needs a person's word."
RUN_BY_HOOK = (
    "a hook, a tool server or a task of this folder names this file, and runs it unasked;"
    " changing it needs a person's word."
)
_MOVES = (("cd",), ("pushd",), ("popd",))
BUILD_FILE = "a build file decides what is run later; changing it needs a person's word."
_RISKS: dict[EditRisk, str] = {"build": BUILD_FILE, "configures": PROTECTED, "hook": RUN_BY_HOOK}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was decided, why, and by which rule."""

    decision: Decision
    reason: str = ""
    rule: Rule | None = None
    # What to run, without a shell, where a line is allowed only because it is known to the last word.
    argv: tuple[str, ...] = ()


class Judge:
    """Rules in their order. `fallback` is what happens to a call that no rule means."""

    def __init__(self, rules: Iterable[Rule], *, fallback: Decision = "ask") -> None:
        # Among equals the earlier rule wins: the sort is stable.
        self.rules = sorted(rules, key=lambda rule: -rule.priority)
        self._fallback: Decision = fallback
        self._candidates: dict[Any, Candidates] = {}

    def decide(self, call: ToolCall, around: Surroundings) -> Ruling:
        """What the rules say of a call. `ask` with nobody there to ask is `deny`."""
        ruling = self._shell(call, around) if call.name in SHELL_TOOLS else self._plain(call, around)
        if ruling.decision == "allow":
            ruling = _edit_looked_at(call, ruling, around)
        if ruling.decision == "ask" and not around.interactive:
            return replace(ruling, decision="deny", reason=ruling.reason or "it needs a person, and nobody is there.")
        return ruling

    def hides(self, name: str, around: Surroundings) -> bool:
        """Whether no arguments could make a call of this tool run."""
        for rule in self._for(PolicyQuery(ToolCall("", name, {})), around).rules:
            if not rule.narrow:
                return rule.decision == "deny"
            if rule.decision != "deny":
                return False
        return False

    def _plain(self, call: ToolCall, around: Surroundings) -> Ruling:
        asked = PolicyQuery(call)
        rule = self._for(asked, around).first(asked, around.context)
        return self._unmatched(around) if rule is None else Ruling(rule.decision, rule.reason, rule)

    def _unmatched(self, around: Surroundings) -> Ruling:
        return Ruling("allow" if around.mode == "yolo" else self._fallback)

    def _for(self, asked: PolicyQuery, around: Surroundings) -> Candidates:
        names = asked.names
        key = (names, around.mode, around.interactive, around.subagent, around.annotations, around.server, around.kind)
        try:
            return self._candidates[key]
        except (KeyError, TypeError):
            pass
        server = around.server or server_of(asked.call.name)
        found = Candidates([rule for rule in self.rules if applies(rule, names, server, around)])
        if _hashable(key) and len(self._candidates) < 1000:
            self._candidates[key] = found
        return found

    # Shell lines.

    def _shell(self, call: ToolCall, around: Surroundings) -> Ruling:
        """The hardest of what is said of the line, of each command in it and of whatever those run in turn.

        Every text that is met is judged once, and all that its parts would meet is met here too: so no line gets off
        more lightly than one of its parts.
        """
        command = PolicyQuery(call).command
        if not command:
            return self._plain(call, around)
        waiting, whole = [(command, False)], command.strip()
        met = set(waiting)
        ruling = Ruling("allow")
        while waiting:
            text, behind = waiting.pop()
            said, found = self._text(call, text, around, first=text.strip() == whole)
            # Whoever allows `sudo` has allowed what it runs, but for what is forbidden or harmful.
            if not behind or said.decision == "deny" or said.reason == DANGEROUS:
                ruling = _first_hardest(ruling, said, first=len(met) == 1)
            if ruling.decision == "deny":
                return ruling
            new = [each for each in _inner(text, behind, found) if each not in met]
            met.update(new)
            waiting += new
            if len(met) > MOST_COMMANDS:
                return self._unreadable(ruling, around)
        return ruling

    def _text(self, call: ToolCall, text: str, around: Surroundings, *, first: bool) -> tuple[Ruling, ShellLine]:
        from farhand.sdk.policies.shell import taken_apart

        here = call if text == call.arguments["command"] else _with_command(call, text)
        ruling = self._plain(here, around)
        line = taken_apart(text)
        if ruling.decision == "deny":
            return ruling, line
        if line.broken:
            denied = (around.mode == "yolo" or not first) and self._denies_some(here, ruling, around)
            return Ruling("deny", UNREADABLE, ruling.rule) if denied else self._unreadable(ruling, around), line
        if not all(command.named for command in line.commands) and self._denies_some(here, ruling, around):
            return Ruling("deny", UNKNOWN_NAME, ruling.rule), line
        if not (ruling.rule is not None and ruling.rule.narrow):
            ruling = _looked_at(here, ruling, line, around, first=first)
        permitted = ruling.rule is not None and ruling.rule.redirection
        if line.redirects and not permitted and not _may_write(here, line, around):
            ruling = _harder(ruling, Ruling("ask", REDIRECTED))
        return ruling, line

    def _denies_some(self, call: ToolCall, ruling: Ruling, around: Surroundings) -> bool:
        """Whether a rule denies some commands: what cannot be told apart from those is denied, too."""
        made_for_it = ruling.rule is not None and ruling.rule.narrow and ruling.decision == "allow"
        least = ruling.rule.priority if made_for_it and ruling.rule is not None else 0
        rules = self._for(PolicyQuery(call), around).rules
        return any(rule.decision == "deny" and rule.narrow and rule.priority >= least for rule in rules)

    def _unreadable(self, whole: Ruling, around: Surroundings) -> Ruling:
        if around.mode != "yolo":
            return _harder(whole, Ruling("ask", UNREADABLE))
        narrow = whole.rule is not None and whole.rule.narrow
        return Ruling("deny", UNREADABLE, whole.rule) if narrow else whole


def _inner(text: str, behind: bool, line: ShellLine) -> list[tuple[str, bool]]:
    """What a text holds: its commands, the scripts they run, and what stands behind `sudo` and the like."""
    from farhand.sdk.policies.shell import hidden, scripts

    # A shell joins continued lines, also in the middle of a word; the parser takes them for two words.
    found = [(text.replace("\\\n", ""), behind)] if "\\\n" in text else []
    whole = text.strip()
    if whole not in ("", text):
        found.append((whole, behind))
    for command in line.commands:
        if command.text and command.text != whole:
            found.append((command.text, behind))
        found += [(script, False) for script in scripts(command)]
        unwrapped = hidden(command)
        if unwrapped:
            found.append((unwrapped, True))
    return found


def _looked_at(call: ToolCall, ruling: Ruling, line: ShellLine, around: Surroundings, *, first: bool) -> Ruling:
    """A rule's decision after a look at what the commands are."""
    from farhand.sdk.policies.dangerous_commands import is_dangerous, runs_git
    from farhand.sdk.policies.safe_commands import safe_argv

    folder = _folder(call, around)
    careful = around.mode != "yolo"
    if careful and folder is not around.cwd and not _within(folder, around):
        return _harder(ruling, Ruling("ask", OUTSIDE))
    if not around.trusted and any(runs_git(command.words) for command in line.commands):
        return _harder(ruling, Ruling("ask", UNTRUSTED_GIT))
    if careful and any(is_dangerous(command.words) for command in line.commands):
        return _harder(ruling, Ruling("ask", DANGEROUS))
    command = line.commands[0]
    whole = command.text == str(call.arguments["command"]).strip()
    alone = first and whole and len(line.commands) == 1 and not line.redirects and not command.assigns
    if alone and ruling.decision == "ask" and (argv := safe_argv(command, folder, around.cwd)):
        return Ruling("allow", "", ruling.rule, argv)
    return ruling


def _may_write(call: ToolCall, line: ShellLine, around: Surroundings) -> bool:
    """Whether the mode lets a line write the files that it redirects to."""
    if around.mode != "auto_edit":
        return around.mode == "yolo"
    if any(command.words[:1] in _MOVES for command in line.commands):
        # What a target is relative to is then known to the shell alone.
        return False
    return all(
        target == "/dev/null" or _is_plain_file(target, _folder(call, around), around) for target in line.targets
    )


def _is_plain_file(target: str | None, folder: Path, around: Surroundings) -> bool:
    if target is None or not _within(folder / target, around):
        return False
    return edit_risk(str(folder / target), around.cwd) is None


def _first_hardest(one: Ruling, other: Ruling, *, first: bool) -> Ruling:
    return other if first else _harder(one, other)


def _harder(one: Ruling, other: Ruling) -> Ruling:
    return other if HARDNESS[other.decision] > HARDNESS[one.decision] else one


def _with_command(call: ToolCall, command: str) -> ToolCall:
    arguments: dict[str, Any] = {"command": command}
    if "dir_path" in call.arguments:
        arguments["dir_path"] = call.arguments["dir_path"]
    return ToolCall(call.id, call.name, arguments)


def _folder(call: ToolCall, around: Surroundings) -> Any:
    named = call.arguments.get("dir_path")
    # As the tool reads it: `~` is the person's home.
    return around.cwd / os.path.expanduser(named) if isinstance(named, str) and named else around.cwd  # noqa: PTH111


def _within(folder: Any, around: Surroundings) -> bool:
    real, root = str(os.path.realpath(folder)), os.path.realpath(around.cwd)
    return real == root or real.startswith(root + os.sep)


def _edit_looked_at(call: ToolCall, ruling: Ruling, around: Surroundings) -> Ruling:
    """Whoever changes what a tool runs later runs it: a person's word is needed, whichever rule allowed the edit."""
    for path in edited_paths(call):
        risk = edit_risk(path, around.cwd, builds_only=around.mode == "yolo")
        if risk is not None:
            return Ruling("ask", _RISKS[risk])
    return ruling


def _hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True
