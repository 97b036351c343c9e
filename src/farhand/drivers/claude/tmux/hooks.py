"""Translates the payloads of Claude Code's hooks into facts, and its questions into asks. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.claude.asks import ClaudeQuestion, decision, digest, hook_reply, question_of, steps, to_ask
from farhand.drivers.claude.limits import limit
from farhand.drivers.claude.tmux.state import (
    ClaudeState,
    Translated,
    before_end,
    conclude,
    displayed,
    end_turn,
    prompted,
    session_changed,
)
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.drivers.wires.hooks.asks import Wording
from farhand.model.facts import Said
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, replace

# The transcript tells of these, or the driver asks on their behalf.
SILENT = frozenset(
    (
        "PostToolUse PostToolUseFailure PostToolBatch Notification PermissionRequest PermissionDenied "
        "SessionEnd SubagentStart SubagentStop PreCompact PostCompact UserPromptExpansion"
    ).split()
)


def _reply(question: ClaudeQuestion, answers: tuple[PartAnswer, ...]) -> JsonObject:
    return hook_reply(decision(question, answers))


WORDING = Wording(question_of=question_of, digest=digest, steps=steps, raised=to_ask, reply=_reply)


def translate_hook(payload: bytes, state: ClaudeState, at: float = 0.0) -> Translated:
    """The facts of one hook payload, which came at that time."""
    record = parse(payload)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    match record.text("hook_event_name"):
        case "SessionStart":
            return session_changed(record.text("session_id"), state)
        case "UserPromptSubmit":
            return prompted(record.text("prompt"), record.text("prompt_id"), state)
        case "MessageDisplay":
            said, state = displayed(record, state)
            ended, state = conclude(state)
            return said + ended, state
        case "PreToolUse":
            return [], _called(record, state)
        case "Stop":
            return _stopped(record, state)
        case "StopFailure":
            return _failed(record, state, at)
        case event if event in SILENT:
            return [], state
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _called(record: Fields, state: ClaudeState) -> ClaudeState:
    """A tool runs: its result must be in the transcript before the turn is over. A subagent's is in another one."""
    call, prompt = record.text("tool_use_id"), record.text("prompt_id")
    if record.text("agent_id"):
        return state
    if not call or prompt != state.prompt:
        return replace(state, missed=prompt, shown="", whole=False)
    return replace(state, calls=(*state.calls, call), shown="", whole=False)


def _stopped(record: Fields, state: ClaudeState) -> Translated:
    """The turn is over if its last words were displayed or written; otherwise the transcript will end it."""
    prompt, words = record.text("prompt_id"), record.text("last_assistant_message").strip()
    if prompt not in state.prompts and prompt not in state.over:
        return [], replace(state, stops={prompt: words})
    if not state.running or (prompt != state.prompt and state.prompts.get(prompt) != state.turn):
        return [], state
    return conclude(replace(state, stopped=words))


def stopped_without_transcript(payload: bytes, state: ClaudeState) -> Translated:
    """The last resort: the hook's own copy of the last words, when the transcript never brought them."""
    record = parse(payload) or Fields({})
    ended, over = end_turn(state, record.text("prompt_id"), HowEnded.COMPLETED)
    text = record.text("last_assistant_message")
    if not ended or not text or text.strip() == state.last_text.strip():
        return ended, over
    gap = "\n\n" if state.spoke else ""
    return [Heard(fact=Said(text=gap + text), turn=state.turn or None), *ended], over


def _failed(record: Fields, state: ClaudeState, at: float) -> Translated:
    error = record.text("last_assistant_message") or record.text("error") or "The model could not be reached."
    limited = limit(record, error, at)
    if limited is not None:
        error = f"The usage limit is reached: {error}"
    ended, over = end_turn(state, record.text("prompt_id"), HowEnded.FAILED, error)
    return before_end(ended, limited), over
