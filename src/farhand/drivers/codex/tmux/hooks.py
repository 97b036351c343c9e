"""Translates the payloads of Codex's hooks into facts, and its questions into asks. Pure: no clock, no files."""

from __future__ import annotations

from typing import Final

from farhand.drivers.codex.asks import HOOK, CodexQuestion, digest, hook_reply, steps, to_ask
from farhand.drivers.codex.tmux.state import (
    CodexRolloutState,
    CodexTranslated,
    end_turn,
    prompted,
    session_changed,
    skip,
)
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.asks import Wording
from farhand.model.facts import Said
from farhand.model.ports import Heard
from farhand.model.words import HowEnded

# The rollout tells of these, or the driver asks on their behalf.
SILENT_HOOKS: Final = frozenset(
    (
        "PreModelRequest PreToolUse PostToolUse PermissionRequest Interrupt SessionEnd SubagentStart SubagentStop "
        "PreCompact PostCompact Stop"
    ).split()
)


def question_of(payload: Fields) -> CodexQuestion:
    """The question in a PermissionRequest payload."""
    params = {"tool_name": payload.text("tool_name"), "tool_input": payload.fields("tool_input").plain}
    return CodexQuestion(method=HOOK, params=params, cwd=payload.text("cwd"))


WORDING = Wording(question_of=question_of, digest=digest, steps=steps, raised=to_ask, reply=hook_reply)


def translate_hook(payload: bytes, state: CodexRolloutState) -> CodexTranslated:
    """The facts of one hook payload."""
    record = parse(payload)
    if record is None:
        return [], skip(state)
    match record.text("hook_event_name"):
        case "SessionStart":
            return session_changed(record.text("session_id"), state)
        case "UserPromptSubmit":
            known, state = session_changed(record.text("session_id"), state)
            heard, state = prompted(record.text("prompt"), record.text("turn_id"), state)
            return known + heard, state
        case event if event in SILENT_HOOKS:
            return [], state
        case _:
            return [], skip(state)


def stopped_without_rollout(payload: bytes, state: CodexRolloutState) -> CodexTranslated:
    """The last resort: the hook's own copy of the last words, when the rollout never brought them."""
    record = parse(payload) or Fields({})
    text, turn = record.text("last_assistant_message"), record.text("turn_id")
    ended, over = end_turn(state, turn, HowEnded.COMPLETED)
    if not ended or not text or text.strip() == state.last_text.strip():
        return ended, over
    gap = "\n\n" if state.spoke else ""
    return [Heard(fact=Said(text=gap + text), turn=ended[0].turn), *ended], over
