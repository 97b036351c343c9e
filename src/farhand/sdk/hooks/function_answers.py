"""Reads what a hook that is a function answered. Light: a hook that runs as a command loads it at every event."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from farhand.sdk.hooks.words import SPECIFIC, WORDS
from farhand.sdk.json_shapes import is_object

ANSWER_KINDS: dict[str, type] = {
    "continue": bool,
    "stopReason": str,
    "suppressOutput": bool,
    "systemMessage": str,
    "decision": str,
    "reason": str,
    "hookSpecificOutput": dict,
    "additionalContext": str,
    "stop_hook_active": bool,
}
_SPECIFIC_KEYS = frozenset({"hookEventName", *SPECIFIC.values()})
DECISIONS = {"ask": "ask", "block": "deny", "deny": "deny", "approve": "allow", "allow": "allow"}


def answer_form(event_name: str, output: object) -> dict[str, Any]:
    """What a function answered in the CLI's form: an output of its event, or a plain dict. Raises TypeError.

    A command's answer may hold whatever it likes, as it may for the CLI; a function's is refused whole when one word
    of it is not understood: a misspelt decision of a guard would let everything through."""
    kind = WORDS[event_name][1]
    answer = output.to_json(event_name) if isinstance(output, kind) else output
    if not is_object(answer):
        raise TypeError(f"it returned {type(output).__name__}; it may return {kind.__name__}, a dict or None")
    _check_keys(answer, ANSWER_KINDS)
    for key, value in answer.items():
        if value is not None and not isinstance(value, ANSWER_KINDS[key]):
            raise TypeError(f"it answered {key}: {value!r}, which should be of type {ANSWER_KINDS[key].__name__}")
    _check_keys(answer.get("hookSpecificOutput") or {}, _SPECIFIC_KEYS)
    decision = answer.get("decision")
    if decision is not None and decision.lower() not in DECISIONS:
        raise TypeError(f"it answered the decision {decision!r}; known: {', '.join(DECISIONS)}")
    return answer


def _check_keys(answer: Mapping[str, Any], known: Collection[str]) -> None:
    if unknown := [key for key in answer if key not in known]:
        raise TypeError(f"it answered {unknown[0]!r}, which nobody knows; known: {', '.join(sorted(known))}")
