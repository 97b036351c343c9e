"""Turns the lines of Codex's rollouts and the payloads of its hooks into facts. Pure: no clock, no files."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, TypeAlias

from farhand.drivers.codex.headless.translate import COMPACTED
from farhand.drivers.codex.limits import error_kind, limit, readable, window_reset
from farhand.drivers.codex.schema import LONGEST_OUTPUT, Item, read_item
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.session_change import another_session
from farhand.drivers.wires.text.tool_title import one_line
from farhand.drivers.wires.tmux.delivered import ExpectedMessage, squeezed
from farhand.model.facts import (
    Fact,
    Noted,
    Said,
    Seen,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, Word, replace

REMEMBERED = 32
# Lines and hooks that say nothing to a person; any other unknown kind is counted as skipped.
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
SILENT_HOOKS: Final = frozenset(
    (
        "PreModelRequest PreToolUse PostToolUse PermissionRequest Interrupt SessionEnd SubagentStart SubagentStop "
        "PreCompact PostCompact Stop"
    ).split()
)
TITLES: Final = {
    "update_plan": "Update the plan",
    "write_stdin": "Write to a running command",
    "apply_patch": "Change files",
    "exec": "Run a script",
    "request_user_input": "Ask a question",
}


PATCHES: Final = ("apply_patch", "*** Begin Patch")


class CodexRolloutState(Word):
    """What the translation remembers between records; it travels in the wire's cursor."""

    session: str = ""
    # Codex's names for its turns, and the core's for them; the one that runs, and those that are over.
    turns: dict[str, str] = {}
    running: str = ""
    over: tuple[str, ...] = ()
    expected: tuple[ExpectedMessage, ...] = ()
    spoke: bool = False
    last_text: str = ""
    tools: tuple[str, ...] = ()
    usage: Usage = Usage()
    resets_at: float | None = None
    skipped: int = 0


Told: TypeAlias = tuple[list[Heard], CodexRolloutState]


def translate(line: bytes, state: CodexRolloutState, at: float = 0.0) -> Told:
    """The facts of one line of a rollout."""
    record = parse(line)
    if record is None:
        return [], _skip(state)
    payload = record.fields("payload")
    match record.text("type"):
        case "event_msg":
            return _event(payload, state, _written_at(record) or at)
        case "response_item":
            return _model(payload, state)
        case "token_usage_record":
            return _used(payload, state)
        case "compacted":
            return _heard([Noted(text=COMPACTED)], state.running, state)
        case kind if kind in SILENT:
            return [], state
        case _:
            return [], _skip(state)


def _skip(state: CodexRolloutState) -> CodexRolloutState:
    return replace(state, skipped=state.skipped + 1)


def _written_at(record: Fields) -> float:
    try:
        return datetime.fromisoformat(record.text("timestamp")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _heard(facts: list[Fact], turn: str, state: CodexRolloutState) -> Told:
    ours = state.turns.get(turn) or None
    return [Heard(fact=fact, turn=ours) for fact in facts], state


# --- what Codex reports


def _event(payload: Fields, state: CodexRolloutState, at: float) -> Told:
    turn = payload.text("turn_id")
    match payload.text("type"):
        case "item_completed":
            return _item(read_item(payload.fields("item")), turn, state)
        case "task_complete":
            return _completed(payload, turn, state, at)
        case "turn_aborted":
            return end_turn(state, turn, HowEnded.INTERRUPTED)
        case "token_count":
            found = window_reset(payload.fields("rate_limits"))
            return [], replace(state, resets_at=found) if found else state
        case kind if kind in SILENT_EVENTS:
            return [], state
        case _:
            return [], _skip(state)


def _item(item: Item, turn: str, state: CodexRolloutState) -> Told:
    match item.kind:
        case "":
            return [], _skip(state)
        case "user":
            return prompted(item.text, turn, state)
        case "warning" | "silent" | "todo":
            return [], state
        case _:
            pass
    started, state = _resumed(turn, state)
    facts, state = _facts(item, state)
    told, state = _heard(facts, turn, state)
    return started + told, state


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


def _resumed(turn: str, state: CodexRolloutState) -> Told:
    """The agent works on something that nobody here asked for: it began at the desk."""
    if not turn or turn in state.turns:
        return [], state
    return [Heard(fact=TurnStarted(), turn=f"desk-{turn}")], _began(state, turn, f"desk-{turn}")


# --- what the model wants


def _model(payload: Fields, state: CodexRolloutState) -> Told:
    """Calls of tools, which the items tell of only when they are over."""
    kind, call = payload.text("type"), payload.text("call_id")
    if kind in CALLS and call:
        tool = payload.text("name") or "tool"
        detail = _arguments(payload)
        title = detail if tool in ("exec_command", "shell") else TITLES.get(tool, tool)
        title = TITLES["apply_patch"] if detail.lstrip().startswith(PATCHES) else title
        facts, state = _started(call, tool, one_line(title), detail[:LONGEST_OUTPUT], state)
        return _heard(facts, state.running, state)
    if kind in OUTPUTS and call in state.tools:
        output = _output(payload.any("output"))
        ended = ToolEnded(call=call, ok=not _refused(output), output=output[:LONGEST_OUTPUT])
        state = replace(state, tools=tuple(one for one in state.tools if one != call))
        return _heard([ended], state.running, state)
    if kind in SILENT_ITEMS or kind in OUTPUTS:
        return [], state
    return [], _skip(state)


def _arguments(payload: Fields) -> str:
    """What a call is about: its command, or all that it was given."""
    given = payload.text("arguments") or payload.text("input")
    fields = parse(given) if given.startswith("{") else None
    return (fields.text("cmd") or fields.text("command") if fields else "") or given


def _output(output: Any) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(Fields(one).text("text") for one in output) if isinstance(output, list) else ""


def _refused(output: str) -> bool:
    head = output[:200]
    return " failed: " in head or "Rejected(" in head or head.startswith("unsupported call")


# --- turns


def _began(state: CodexRolloutState, turn: str, ours: str) -> CodexRolloutState:
    turns = dict([*state.turns.items(), (turn, ours)][-REMEMBERED:])
    return replace(state, turns=turns, running=turn, spoke=False, last_text="", tools=(), usage=Usage())


def prompted(text: str, turn: str, state: CodexRolloutState) -> Told:
    """A prompt has reached the agent: one of ours is seen, any other began at the desk."""
    if not turn:
        return [], _skip(state)
    if turn in state.over:
        return [], state
    found = next((one for one in state.expected if squeezed(one.text) == squeezed(text)), None)
    if turn in state.turns:
        return _seen(found, turn, state) if found is not None else ([], state)
    before, state = end_turn(state, state.running, HowEnded.COMPLETED) if state.running else ([], state)
    ours = found.turn if found is not None and found.turn else f"desk-{turn}"
    started = [] if found is not None and found.turn else [Heard(fact=TurnStarted(), turn=ours)]
    state = _began(state, turn, ours)
    seen, state = _seen(found, turn, state) if found is not None else ([], state)
    return [*before, *started, *seen], state


def _seen(found: ExpectedMessage, turn: str, state: CodexRolloutState) -> Told:
    rest = tuple(one for one in state.expected if one is not found)
    return _heard([Seen(message=found.message)], turn, replace(state, expected=rest))


def _used(payload: Fields, state: CodexRolloutState) -> Told:
    spent, turn = payload.fields("turn_token_usage"), payload.text("turn_id")
    usage = Usage(input_tokens=spent.whole("input_tokens"), output_tokens=spent.whole("output_tokens"))
    if turn != state.running or usage == state.usage:
        return [], state
    return _heard([Used(usage=usage)], turn, replace(state, usage=usage))


def _completed(payload: Fields, turn: str, state: CodexRolloutState, at: float) -> Told:
    error = payload.fields("error")
    if not error:
        return end_turn(state, turn, HowEnded.COMPLETED)
    text = readable(error.text("message")) or "Codex ended the turn with an error."
    limited = limit(text, error_kind(error), state.resets_at, at)
    ended, over = end_turn(state, turn, HowEnded.FAILED, text)
    if limited is None or not ended:
        return ended, over
    return [Heard(fact=limited, turn=ended[0].turn), *ended], over


def end_turn(state: CodexRolloutState, turn: str, how: HowEnded, error: str = "") -> Told:
    """The end of a turn, told once."""
    if not turn or turn in state.over or turn not in state.turns:
        return [], state
    ours = state.turns[turn]
    usage = state.usage if state.usage != Usage() and turn == state.running else None
    over = replace(state, over=(*state.over, turn)[-REMEMBERED:])
    if turn == state.running:
        over = replace(over, running="", tools=())
    return [Heard(fact=TurnEnded(how=how, error=error, usage=usage), turn=ours)], over


# --- hooks


def translate_hook(payload: bytes, state: CodexRolloutState) -> Told:
    """The facts of one hook payload."""
    record = parse(payload)
    if record is None:
        return [], _skip(state)
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
            return [], _skip(state)


def session_changed(session: str, state: CodexRolloutState) -> Told:
    """The agent's conversation has an id now, or another one."""
    return another_session(
        session, state, lambda: end_turn(state, state.running, HowEnded.COMPLETED), CodexRolloutState
    )


def stopped_without_rollout(payload: bytes, state: CodexRolloutState) -> Told:
    """The last resort: the hook's own copy of the last words, when the rollout never brought them."""
    record = parse(payload) or Fields({})
    text, turn = record.text("last_assistant_message"), record.text("turn_id")
    ended, over = end_turn(state, turn, HowEnded.COMPLETED)
    if not ended or not text or text.strip() == state.last_text.strip():
        return ended, over
    gap = "\n\n" if state.spoke else ""
    return [Heard(fact=Said(text=gap + text), turn=ended[0].turn), *ended], over
