"""Turns the payloads of the Gemini CLI's hooks into facts. Pure: no clock, no files."""

from __future__ import annotations

from typing import Any

from farhand.drivers.gemini.schema import moment, unwrapped, words
from farhand.drivers.gemini.tmux.translate import GeminiState, Translated, end_turn, prompted, skip, tool_hooked
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.words import HowEnded, replace

NOTHING = "[no response text]"
# The session file tells of these, or the link asks on their behalf.
SILENT = frozenset(
    "SessionStart SessionEnd Notification BeforeModel AfterModel BeforeToolSelection PreCompress".split()
)


def translate_hook(payload: bytes, state: GeminiState) -> Translated:
    """The facts of one hook payload."""
    record = parse(payload)
    if record is None:
        return skip(state)
    match record.text("hook_event_name"):
        case "BeforeAgent":
            return prompted(record.text("prompt"), moment(record), replace(state, replays=0.0), hook=True)
        case "AfterAgent":
            return _ended(record, state)
        case "BeforeTool":
            return _tool(record, state, over=False)
        case "AfterTool":
            return _tool(record, state, over=True)
        case event if event in SILENT:
            return [], state
        case _:
            return skip(state)


def _tool(record: Fields, state: GeminiState, *, over: bool) -> Translated:
    if not state.running or _is_late(record, state):
        return [], state
    output = _output(record.fields("tool_response").any("llmContent")) if over else ""
    return tool_hooked(record.text("tool_name"), record.any("tool_input"), state, over=over, output=output)


def _output(content: Any) -> str:
    return unwrapped(words(content))


def _is_late(record: Fields, state: GeminiState) -> bool:
    return 0.0 < moment(record) < state.began


def _ended(record: Fields, state: GeminiState) -> Translated:
    """The turn is over if it brought something to say; otherwise the file has its reason in a moment."""
    if _is_late(record, state) or silent(record, state):
        return [], state
    ended, state = end_turn(state, HowEnded.COMPLETED)
    return ended, replace(state, over=moment(record))


def silent(record: Fields, state: GeminiState) -> bool:
    """Whether a turn ends without a word: it failed, or was cancelled, which its file tells."""
    return state.running and not state.spoke and record.text("prompt_response") == NOTHING
