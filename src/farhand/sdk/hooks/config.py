"""Reads the command hooks of settings.json. One that cannot be used costs that one, and is told."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from farhand.sdk.hooks.define import Hook
from farhand.sdk.hooks.words import WORDS, matcher_problem
from farhand.sdk.json_shapes import is_list, is_mapping, object_or_empty
from farhand.sdk.settings import PROJECT

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

DEFAULT_TIMEOUT_MILLISECONDS = 60_000
# Hooks run and are merged in this order; extensions come last.
_RANKS = {"runtime": 0, "project": 1, "user": 2, "system": 3, "system-defaults": 3, "extensions": 4}


@dataclass(frozen=True, slots=True)
class Entry:
    """One hook of one event: a command line, or a function."""

    event: str
    name: str
    source: str
    matcher: str | None = None
    sequential: bool = False
    command: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_MILLISECONDS / 1000
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    function: Hook[Any, Any] | None = None

    @property
    def rank(self) -> int:
        """Where it stands in the order of sources."""
        return _RANKS[self.source]

    @property
    def key(self) -> tuple[str, str, int]:
        """Equal keys are one hook, named twice."""
        return (self.name, self.command, id(self.function) if self.function else 0)


def entry_of(hook: Hook[Any, Any]) -> Entry:
    """A hook in Python as an entry."""
    return Entry(
        event=hook.event,
        name=hook.name,
        source="runtime",
        matcher=hook.matcher,
        sequential=hook.sequential,
        timeout_seconds=hook.timeout_seconds,
        function=hook,
    )


def configured(settings: AgentSettings, complaints: list[str]) -> Iterator[Entry]:
    """The command hooks of every tier, without those that `hooksConfig` switches off."""
    # A person's hooks may guard the person: a project cannot switch them off.
    if settings.granted("hooksConfig.enabled") is False or settings.granted("tools.enableHooks") is False:
        return
    for tier in settings.tiers:
        own = settings.get if tier.name == PROJECT else settings.granted
        if own("hooksConfig.enabled") is False or own("tools.enableHooks") is False:
            continue
        disabled = set(own("hooksConfig.disabled") or ())
        hooks = tier.values.get("hooks")
        if hooks is None:
            continue
        for entry in entries_of(hooks, tier.name, f"{tier.path}", complaints):
            if not {entry.name, entry.command} & disabled:
                yield entry


def entries_of(hooks: Any, source: str, where: str, complaints: list[str]) -> Iterator[Entry]:
    """The entries of one `hooks` object, of settings or of an extension."""
    if is_list(hooks):
        hooks = _by_event(hooks, where, complaints)
    if not is_mapping(hooks):
        complaints.append(f"{where}: hooks should be an object or a list; none of them was read.")
        return
    for event, groups in hooks.items():
        # The old place of what is now hooksConfig.
        if event in ("enabled", "disabled", "notifications"):
            continue
        if event not in WORDS:
            complaints.append(f"{where}: there is no hook event {event!r}. Known: {', '.join(WORDS)}.")
            continue
        for group in groups if is_list(groups) else [groups]:
            yield from _group(event, group, source, f"{where}: hooks.{event}", complaints)


def _by_event(hooks: list[Any], where: str, complaints: list[str]) -> dict[str, list[Any]]:
    """A list of `{"event": …, "command": [word, …]}` in the CLI's own form."""
    found: dict[str, list[Any]] = {}
    for each in hooks:
        if not is_mapping(each) or not isinstance(each.get("event"), str):
            complaints.append(f"{where}: each hook of the list needs an event and a command.")
            continue
        command = each.get("command")
        words = is_list(command) and all(isinstance(word, str) for word in command)
        hook = {**each, "command": shlex.join(command) if words and is_list(command) else command}
        found.setdefault(each["event"], []).append({"matcher": each.get("matcher"), "hooks": [hook]})
    return found


def _group(event: str, group: Any, source: str, where: str, complaints: list[str]) -> Iterator[Entry]:
    if not is_mapping(group) or not is_list(group.get("hooks")):
        complaints.append(f"{where}: each entry needs a list `hooks`.")
        return
    matcher = group.get("matcher")
    if isinstance(matcher, str) and (wrong := matcher_problem(event, matcher)):
        # The CLI then takes it word for word. A guard that never matches is none, so this one hears of every tool.
        complaints.append(f"{where}: {wrong} Its hooks hear of every tool.")
        matcher = None
    for each in group["hooks"]:
        problem = _problem(each)
        if problem:
            complaints.append(f"{where}: {problem}")
            continue
        timeout = each.get("timeout", DEFAULT_TIMEOUT_MILLISECONDS)
        env = object_or_empty(each.get("env"))
        yield Entry(
            event=event,
            name=str(each.get("name") or ""),
            source=source,
            matcher=matcher if isinstance(matcher, str) else None,
            sequential=group.get("sequential") is True,
            command=each["command"],
            timeout_seconds=timeout / 1000,
            env={str(name): str(value) for name, value in env.items()},
        )


def _problem(hook: Any) -> str:
    if not is_mapping(hook):
        return f"{hook!r} is no hook."
    if hook.get("type", "command") != "command":
        return f'hooks of type {hook["type"]!r} are not run; use "command".'
    if not isinstance(hook.get("command"), str) or not hook["command"].strip():
        return "a hook has no command."
    timeout = hook.get("timeout", DEFAULT_TIMEOUT_MILLISECONDS)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        return f"timeout should be a number of milliseconds, and is {timeout!r}."
    if not is_mapping(hook.get("env") or {}):
        return "env should be an object."
    return ""
