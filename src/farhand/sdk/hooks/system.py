"""All hooks of a session: finds those that an event means, runs them, and merges what they say."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.call_function import LATE, call_within
from farhand.sdk.environment import child_environment
from farhand.sdk.errors import SdkError
from farhand.sdk.hooks.answers import HookRun, clean, read_answer
from farhand.sdk.hooks.config import Entry, configured, entry_of
from farhand.sdk.hooks.define import Hook
from farhand.sdk.hooks.function_answers import answer_form
from farhand.sdk.hooks.matching import matches, subject_of
from farhand.sdk.hooks.merge import fed_forward, merged
from farhand.sdk.hooks.words import input_of
from farhand.sdk.protocols import HookOutcome
from farhand.sdk.settings import PROJECT

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from farhand.sdk.hooks.words import EventName
    from farhand.sdk.protocols import HookSystem, SessionContext
    from farhand.sdk.settings import AgentSettings

KILL_GRACE_SECONDS = 5.0
LARGEST_ANSWER_BYTES = 1024 * 1024


class Hooks:
    """The hooks of a session, in the order of their sources. `warnings` tells of settings that could not be used."""

    def __init__(self, entries: Sequence[Entry], environment: Mapping[str, str], warnings: Sequence[str] = ()) -> None:
        self._entries: dict[str, list[Entry]] = {}
        for entry in sorted(entries, key=lambda entry: entry.rank):
            self._entries.setdefault(entry.event, []).append(entry)
        self._environment = environment
        self.warnings = tuple(warnings)

    def under(self, above: HookSystem) -> Hooks:
        """These hooks and those of the agent above, each in the environment that it was made for."""
        if not isinstance(above, Hooks):
            return self
        theirs = [
            replace(entry, env={**above._environment, **entry.env})
            for entries in above._entries.values()
            for entry in entries
        ]
        return Hooks([*(entry for own in self._entries.values() for entry in own), *theirs], self._environment)

    def listens(self, event_name: EventName, matcher_subject: str | None = None) -> bool:
        """Whether any hook wants to hear of an event."""
        entries = self._entries.get(event_name)
        return bool(entries) and any(matches(event_name, entry.matcher, matcher_subject) for entry in entries or ())

    async def fire(self, event_name: EventName, fields: dict[str, Any], context: SessionContext) -> HookOutcome:
        """Runs every hook that the event means: at once, or one after the other when one of them asks for that."""
        entries = self._meant(event_name, fields)
        if not entries:
            return HookOutcome()
        payload = {
            "session_id": context.session_id,
            "transcript_path": context.transcript_path,
            "cwd": context.cwd,
            "hook_event_name": event_name,
            "timestamp": context.timestamp,
            **fields,
        }
        if any(entry.sequential for entry in entries):
            results = await self._one_by_one(event_name, entries, payload, context)
        else:
            results = await self._at_once(entries, payload, context)
        return merged(event_name, results, fields)

    def _meant(self, event_name: str, fields: Mapping[str, Any]) -> list[Entry]:
        subject = subject_of(event_name, fields)
        found: dict[tuple[str, str, int], Entry] = {}
        for entry in self._entries.get(event_name, ()):
            if matches(event_name, entry.matcher, subject):
                first = found.setdefault(entry.key, entry)
                if first.source == PROJECT:
                    # A project's hook never stands in for a person's, which may be a guard.
                    found[entry.key] = entry
        return list(found.values())

    async def _one_by_one(
        self, event_name: str, entries: list[Entry], payload: dict[str, Any], context: SessionContext
    ) -> list[HookRun]:
        results: list[HookRun] = []
        for entry in entries:
            ran = await self._run(entry, payload, context)
            payload = fed_forward(event_name, payload, ran)
            results.append(ran)
        return results

    async def _at_once(self, entries: list[Entry], payload: dict[str, Any], context: SessionContext) -> list[HookRun]:
        if len(entries) == 1:
            return [await self._run(entries[0], payload, context)]
        import anyio

        results: list[HookRun | None] = [None] * len(entries)

        async def one(index: int) -> None:
            results[index] = await self._run(entries[index], payload, context)

        async with anyio.create_task_group() as tasks:
            for index in range(len(entries)):
                tasks.start_soon(one, index)
        return [result for result in results if result is not None]

    async def _run(self, entry: Entry, payload: dict[str, Any], context: SessionContext) -> HookRun:
        if entry.function is not None:
            return await _run_function(entry, entry.function, payload, context)
        return await self._run_command(entry, payload, context)

    async def _run_command(self, entry: Entry, payload: dict[str, Any], context: SessionContext) -> HookRun:
        from farhand.sdk.shell import finished
        from farhand.sdk.shell_process import Limits, RunningCommand

        name = entry.name or entry.command
        variables = _variables(payload, context)
        try:
            command = RunningCommand(
                ["bash", "-c", _expanded(entry.command, variables)],
                cwd=payload["cwd"],
                env={**self._environment, **variables, **entry.env},
                limits=Limits(
                    timeout_seconds=entry.timeout_seconds,
                    grace_seconds=KILL_GRACE_SECONDS,
                    output_bytes=LARGEST_ANSWER_BYTES,
                ),
                text=json.dumps(payload),
            )
        except OSError as error:
            return HookRun(name, failure=f"it could not be started ({error})")
        result = await finished(command)
        # What a hook leaves running, an upload say, is meant to go on.
        command.release()
        overflowed = command.stdout.overflowed
        return read_answer(name, result, timeout_seconds=entry.timeout_seconds, overflowed=overflowed)


async def _run_function(
    entry: Entry, hook: Hook[Any, Any], payload: dict[str, Any], context: SessionContext
) -> HookRun:
    try:
        event = input_of(hook.event, payload)
    except ValueError as error:
        return HookRun(entry.name, failure=str(error))
    arguments = (event, context) if hook.takes_context else (event,)
    output, raised = await call_within(functools.partial(hook.handler, *arguments), {}, entry.timeout_seconds)
    if raised is not None:
        if isinstance(raised, TimeoutError) and raised.args == (LATE,):
            return HookRun(entry.name, failure=f"it did not finish within {entry.timeout_seconds * 1000:g} ms")
        return HookRun(entry.name, failure=f"{type(raised).__name__}: {raised}")
    if output is None:
        return HookRun(entry.name)
    try:
        return HookRun(entry.name, clean(answer_form(hook.event, output)))
    except TypeError as error:
        return HookRun(entry.name, failure=str(error))


def _variables(payload: Mapping[str, Any], context: SessionContext) -> dict[str, str]:
    folder = getattr(getattr(context, "session", None), "folder", None)
    plans = str(Path(folder) / payload["session_id"] / "plans") if folder is not None else ""
    return {
        "GEMINI_PROJECT_DIR": payload["cwd"],
        "GEMINI_CWD": payload["cwd"],
        "GEMINI_PLANS_DIR": plans,
        "GEMINI_SESSION_ID": payload["session_id"],
        "CLAUDE_PROJECT_DIR": payload["cwd"],
    }


def _expanded(command: str, variables: Mapping[str, str]) -> str:
    # Longer names first, so that none is taken for the beginning of another.
    for name in sorted(variables, key=len, reverse=True):
        command = command.replace(f"${name}", shlex.quote(variables[name]))
    return command


def collect(hooks: Sequence[object], settings: AgentSettings) -> Hooks:
    """The hooks of a session: those given in code, then those of the settings."""
    entries: list[Entry] = []
    for hook in hooks:
        if not _is_hook(hook):
            raise SdkError(f"{hook!r} is no hook; give what @hook made of a function.")
        entries.append(entry_of(hook))
    complaints: list[str] = []
    entries += configured(settings, complaints)
    return Hooks(entries, child_environment(settings), complaints)


def _is_hook(value: object) -> TypeIs[Hook[Any, Any]]:
    return isinstance(value, Hook)
