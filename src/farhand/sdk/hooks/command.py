"""Runs a hook as a command: an event as JSON on stdin, an answer as JSON on stdout, and the exit code the CLI wants.

Nothing heavy is imported here: the agent waits for every start of this.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from farhand.sdk.hooks.function_answers import answer_form
from farhand.sdk.hooks.matching import matches, subject_of
from farhand.sdk.hooks.words import input_of
from farhand.sdk.json_shapes import is_object

if TYPE_CHECKING:
    from farhand.sdk.hooks.define import Hook
    from farhand.sdk.protocols import SessionContext

DONE = 0
WARNING = 1
BLOCKED = 2


def run(hook: Hook[Any, Any]) -> int:
    """Handles one event and returns the exit code. What the handler prints goes to stderr, where it does no harm."""
    answer_on = sys.stdout
    sys.stdout = sys.stderr
    try:
        answer = _answer(hook, sys.stdin.buffer.read())
    except Exception as error:  # noqa: BLE001
        answer_on.flush()
        sys.stderr.write(f"Hook {hook.name!r} failed: {type(error).__name__}: {error}\n")
        # A guard that breaks lets nothing through; any other hook only says so.
        return BLOCKED if hook.event == "BeforeTool" else WARNING
    finally:
        sys.stdout = answer_on
    answer_on.write(json.dumps(answer) + "\n")
    answer_on.flush()
    return DONE


def _answer(hook: Hook[Any, Any], given: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(given)
    except ValueError as error:
        raise ValueError(f"stdin holds no JSON ({error})") from None
    if not is_object(payload):
        raise ValueError("stdin holds no JSON object")
    event_name = payload.get("hook_event_name")
    if event_name != hook.event:
        raise ValueError(f"it is a hook for {hook.event} and was run for {event_name!r}")
    if not matches(hook.event, hook.matcher, subject_of(hook.event, payload)):
        return {}
    event = input_of(hook.event, payload)
    output = hook(event, _context(payload) if hook.takes_context else None)
    if output is not None and hasattr(output, "__await__"):
        output = _awaited(output)
    if output is None:
        return {}
    return answer_form(hook.event, output)


def _context(payload: dict[str, Any]) -> SessionContext:
    from farhand.sdk.hooks.command_context import CommandContext

    return CommandContext(payload)


def _awaited(awaitable: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())
