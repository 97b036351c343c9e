"""Translates the payloads of the Gemini CLI's hooks into facts. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.gemini.schema import digest, unwrapped, words
from farhand.drivers.gemini.tmux.state import (
    GeminiState,
    GeminiToolState,
    GeminiTranslated,
    end_turn,
    heard,
    prompted,
    skip,
    with_tool,
)
from farhand.drivers.gemini.tmux.translate import LONGEST_OUTPUT, started
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.facts import ToolEnded
from farhand.model.words import HowEnded, replace

NOTHING = "[no response text]"
# The session file tells of these, or the link asks on their behalf.
SILENT = frozenset(
    "SessionStart SessionEnd Notification BeforeModel AfterModel BeforeToolSelection PreCompress".split()
)


def translate_hook(payload: bytes, state: GeminiState) -> GeminiTranslated:
    """The facts of one hook payload."""
    record = parse(payload)
    if record is None:
        return skip(state)
    match record.text("hook_event_name"):
        case "BeforeAgent":
            return prompted(record.text("prompt"), record.written_at(), replace(state, replays=0.0), hook=True)
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


def _tool(record: Fields, state: GeminiState, *, over: bool) -> GeminiTranslated:
    if not state.running or _is_late(record, state):
        return [], state
    output = unwrapped(words(record.fields("tool_response").any("llmContent"))) if over else ""
    return _called(record.text("tool_name"), record.any("tool_input"), state, over=over, output=output)


def _called(tool: str, arguments: object, state: GeminiState, *, over: bool, output: str = "") -> GeminiTranslated:
    """A call that a hook tells of, before it runs or after."""
    same = digest(tool, arguments)
    if not over:
        filed = next((one for one in state.tools if one.digest == same and one.filed and not one.hooked), None)
        if filed is not None:
            return [], with_tool(replace(filed, hooked=True), state)
        fresh = GeminiToolState(call=f"tool-{state.turns}-{len(state.tools) + 1}", digest=same, hooked=True)
        return heard([started(fresh.call, tool, Fields(arguments))], state), with_tool(fresh, state)
    found = next((one for one in state.tools if one.digest == same and one.hooked and not one.over), None)
    if found is None:
        return [], state
    ended = ToolEnded(call=found.call, output=output[:LONGEST_OUTPUT])
    return heard([ended], state), with_tool(replace(found, over=True), state)


def _is_late(record: Fields, state: GeminiState) -> bool:
    return 0.0 < record.written_at() < state.began


def _ended(record: Fields, state: GeminiState) -> GeminiTranslated:
    """The turn is over if it brought something to say; otherwise the file has its reason in a moment."""
    if _is_late(record, state) or silent(record, state):
        return [], state
    ended, state = end_turn(state, HowEnded.COMPLETED)
    return ended, replace(state, over=record.written_at())


def silent(record: Fields, state: GeminiState) -> bool:
    """Whether a turn ends without a word: it failed, or was cancelled, which its file tells."""
    return state.running and not state.spoke and record.text("prompt_response") == NOTHING
