"""Reads what a command hook answered: its exit code, what it printed, and whatever ended it. Pure."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farhand.sdk.hooks.function_answers import ANSWER_KINDS, DECISIONS
from farhand.sdk.json_shapes import is_object

if TYPE_CHECKING:
    from farhand.sdk.protocols import ShellResult

NO_REASON = "No reason provided"


@dataclass(frozen=True, slots=True)
class HookRun:
    """What came of one hook: its answer in the CLI's form, or why there is none."""

    name: str
    output: dict[str, Any] | None = None
    failure: str = ""


def read_answer(name: str, result: ShellResult, *, timeout_seconds: float, overflowed: bool) -> HookRun:
    """The answer of a command. Exit code 2 and above refuse, whatever was printed; 1 is a warning."""
    if result.timed_out:
        return HookRun(name, failure=f"it did not finish within {timeout_seconds * 1000:g} ms")
    if result.exit_code < 0:
        return HookRun(name, failure=f"it was ended by {_signal(-result.exit_code)}")
    if overflowed:
        return HookRun(name, failure="it printed more than an answer can hold")
    text = result.stdout.strip() or result.stderr.strip()
    answer = _json(text)
    if result.exit_code > 1:
        return HookRun(name, _refusal(answer, result))
    if answer is not None:
        return HookRun(name, clean(answer))
    if result.exit_code == 1:
        return HookRun(name, {"systemMessage": f"Warning: {text or f'hook {name!r} exited with 1'}"})
    return HookRun(name, {"decision": "allow", "systemMessage": text} if text else None)


def _refusal(answer: dict[str, Any] | None, result: ShellResult) -> dict[str, Any]:
    if answer is None:
        return {"decision": "deny", "reason": result.stderr.strip() or result.stdout.strip() or NO_REASON}
    # The CLI lets a printed "allow" beat the exit code; here a refusal stays one.
    cleaned = clean(answer)
    reason = cleaned.get("reason") or result.stderr.strip() or NO_REASON
    return {**cleaned, "decision": "deny", "reason": reason}


def _json(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
        # Shell scripts quote their JSON twice now and then.
        value = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def clean(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the fields that have the wrong kind; decisions in our three words."""
    if isinstance(context := answer.get("additionalContext"), str):
        # Other agents' hooks have it at the top.
        specific = answer.get("hookSpecificOutput")
        specific = specific if is_object(specific) else {}
        answer = {**answer, "hookSpecificOutput": {"additionalContext": context, **specific}}
    kept: dict[str, Any] = {
        key: value for key, value in answer.items() if isinstance(value, ANSWER_KINDS.get(key, _Never))
    }
    if "decision" in kept:
        decision = DECISIONS.get(kept.pop("decision").lower())
        if decision:
            kept["decision"] = decision
    return kept


class _Never:
    """What no field of an answer is."""


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
