"""Translates the lines of Codex's rollouts into facts. Pure: no clock, no files."""

from __future__ import annotations

from typing import Final

from farhand.drivers.codex.headless.translate import COMPACTED
from farhand.drivers.codex.limits import error_kind, limit, readable, usage_windows, window_reset
from farhand.drivers.codex.schema import LONGEST_OUTPUT, Item, read_item
from farhand.drivers.codex.tmux.state import (
    REMEMBERED,
    CodexRolloutState,
    CodexTranslated,
    began,
    end_turn,
    heard_in,
    prompted,
    skip,
)
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.text.tool_title import one_line
from farhand.model.facts import (
    Fact,
    Noted,
    Said,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, UsageWindow, replace

# Lines that say nothing to a person; any other unknown kind is counted as skipped.
SILENT: Final = frozenset("session_meta turn_context world_state inter_agent_message".split())
SILENT_EVENTS: Final = frozenset(
    (
        "task_started thread_settings_applied thread_name_updated user_message agent_message agent_reasoning "
        "agent_reasoning_raw_content item_started exec_command_begin exec_command_end patch_apply_begin "
        "patch_apply_end mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end turn_diff warning "
        "session_configured context_compacted entered_review_mode exited_review_mode thread_rolled_back"
    ).split()
)
SILENT_ITEMS: Final = frozenset("message reasoning web_search_call ghost_snapshot compaction".split())
CALLS: Final = frozenset("function_call custom_tool_call local_shell_call".split())
OUTPUTS: Final = frozenset("function_call_output custom_tool_call_output".split())
TITLES: Final = {
    "update_plan": "Update the plan",
    "write_stdin": "Write to a running command",
    "apply_patch": "Change files",
    "exec": "Run a script",
    "request_user_input": "Ask a question",
}


PATCHES: Final = ("apply_patch", "*** Begin Patch")


def translate(line: bytes, state: CodexRolloutState, at: float = 0.0) -> CodexTranslated:
    """The facts of one line of a rollout."""
    record = parse(line)
    if record is None:
        return [], skip(state)
    payload = record.fields("payload")
    match record.text("type"):
        case "event_msg":
            return _event(payload, state, record.written_at() or at)
        case "response_item":
            return _model(payload, state)
        case "token_usage_record":
            return _used(payload, state)
        case "compacted":
            return heard_in([Noted(text=COMPACTED)], state.running, state)
        case kind if kind in SILENT:
            return [], state
        case _:
            return [], skip(state)


# --- what Codex reports


def _event(payload: Fields, state: CodexRolloutState, at: float) -> CodexTranslated:
    turn = payload.text("turn_id")
    match payload.text("type"):
        case "item_completed":
            return _item(read_item(payload.fields("item")), turn, state)
        case "task_complete":
            return _completed(payload, turn, state, at)
        case "turn_aborted":
            return end_turn(state, turn, HowEnded.INTERRUPTED)
        case "token_count":
            windows = usage_windows(payload.fields("rate_limits"))
            found = window_reset(windows)
            state = replace(state, resets_at=found) if found else state
            return _context(payload.fields("info"), windows, state)
        case kind if kind in SILENT_EVENTS:
            return [], state
        case _:
            return [], skip(state)


def _item(item: Item, turn: str, state: CodexRolloutState) -> CodexTranslated:
    match item.kind:
        case "":
            return [], skip(state)
        case "user":
            return prompted(item.text, turn, state)
        case "warning" | "silent" | "todo":
            return [], state
        case _:
            pass
    started, state = _resumed(turn, state)
    facts, state = _facts(item, state)
    heard, state = heard_in(facts, turn, state)
    return started + heard, state


def _facts(item: Item, state: CodexRolloutState) -> tuple[list[Fact], CodexRolloutState]:
    match item.kind:
        case "said" | "plan":
            gap = "\n\n" if state.spoke else ""
            facts: list[Fact] = [Said(text=gap + item.text)] if item.text else []
            return facts, replace(state, spoke=state.spoke or bool(item.text), last_text=item.text)
        case "thought":
            return ([Thought(text=item.text)] if item.text else []), state
        case "compaction":
            return [Noted(text=COMPACTED)], state
        case _:
            begun, state = _started(item.id, item.tool, item.title, item.detail, state)
            over = replace(state, tools=tuple(one for one in state.tools if one != item.id))
            return [*begun, ToolEnded(call=item.id, ok=item.ok, output=item.output)], over


def _started(
    call: str, tool: str, title: str, detail: str, state: CodexRolloutState
) -> tuple[list[Fact], CodexRolloutState]:
    if call in state.tools:
        return [], state
    fact = ToolStarted(call=call, tool=tool, title=title, detail=detail)
    return [fact], replace(state, tools=(*state.tools, call)[-REMEMBERED:])


def _resumed(turn: str, state: CodexRolloutState) -> CodexTranslated:
    """The agent works on something that nobody here asked for: it began at the desk."""
    if not turn or turn in state.turns:
        return [], state
    return [Heard(fact=TurnStarted(), turn=f"desk-{turn}")], began(state, turn, f"desk-{turn}")


# --- what the model wants


def _model(payload: Fields, state: CodexRolloutState) -> CodexTranslated:
    """Calls of tools, which the items tell of only when they are over."""
    kind, call = payload.text("type"), payload.text("call_id")
    if kind in CALLS and call:
        tool = payload.text("name") or "tool"
        detail = _arguments(payload)
        title = detail if tool in ("exec_command", "shell") else TITLES.get(tool, tool)
        title = TITLES["apply_patch"] if detail.lstrip().startswith(PATCHES) else title
        facts, state = _started(call, tool, one_line(title), detail[:LONGEST_OUTPUT], state)
        return heard_in(facts, state.running, state)
    if kind in OUTPUTS and call in state.tools:
        output = _output(payload.any("output"))
        ended = ToolEnded(call=call, ok=not _refused(output), output=output[:LONGEST_OUTPUT])
        state = replace(state, tools=tuple(one for one in state.tools if one != call))
        return heard_in([ended], state.running, state)
    if kind in SILENT_ITEMS or kind in OUTPUTS:
        return [], state
    return [], skip(state)


def _arguments(payload: Fields) -> str:
    """What a call is about: its command, or all that it was given."""
    given = payload.text("arguments") or payload.text("input")
    fields = parse(given) if given.startswith("{") else None
    return (fields.text("cmd") or fields.text("command") if fields else "") or given


def _output(output: object) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(Fields(one).text("text") for one in output) if isinstance(output, list) else ""


def _refused(output: str) -> bool:
    head = output[:200]
    return " failed: " in head or "Rejected(" in head or head.startswith("unsupported call")


# --- usage and ends


def _used(payload: Fields, state: CodexRolloutState) -> CodexTranslated:
    spent, turn = payload.fields("turn_token_usage"), payload.text("turn_id")
    read, written = spent.whole("input_tokens"), spent.whole("output_tokens")
    usage = replace(state.usage, input_tokens=read, output_tokens=written)
    if turn != state.running or usage == state.usage:
        return [], state
    return heard_in([Used(usage=usage)], turn, replace(state, usage=usage))


def _context(info: Fields, windows: tuple[UsageWindow, ...], state: CodexRolloutState) -> CodexTranslated:
    """How full the conversation is; it comes before or after the turn's own sum."""
    tokens, window = info.fields("last_token_usage").whole("total_tokens"), info.whole("model_context_window")
    usage = replace(state.usage, context_tokens=tokens, context_window=window, windows=windows or state.usage.windows)
    if not state.running or not tokens or usage == state.usage:
        return [], state
    return heard_in([Used(usage=usage)], state.running, replace(state, usage=usage))


def _completed(payload: Fields, turn: str, state: CodexRolloutState, at: float) -> CodexTranslated:
    error = payload.fields("error")
    if not error:
        return end_turn(state, turn, HowEnded.COMPLETED)
    text = readable(error.text("message")) or "Codex ended the turn with an error."
    limited = limit(text, error_kind(error), state.resets_at, at)
    ended, over = end_turn(state, turn, HowEnded.FAILED, text)
    if limited is None or not ended:
        return ended, over
    return [Heard(fact=limited, turn=ended[0].turn), *ended], over
