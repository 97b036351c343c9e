"""Translates the notifications and replies of Codex's app-server into facts. Pure: no clock, no files."""

from __future__ import annotations

from typing import Final, TypeAlias

from farhand.drivers.codex.headless.state import CodexFileChange, CodexServerState
from farhand.drivers.codex.limits import error_kind, limit, readable, usage_windows, window_reset
from farhand.drivers.codex.schema import Item, read_item
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.facts import (
    Fact,
    Noted,
    Said,
    Seen,
    SessionKnown,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.start_problems import WAITS_FOR_NETWORK, is_network
from farhand.model.words import HowEnded, Usage, replace

REMEMBERED = 32
COMPACTED = "The conversation was compacted to make room."
TURN: Final = "turn:"
OPEN: Final = "open"
ENDINGS = {"completed": HowEnded.COMPLETED, "interrupted": HowEnded.INTERRUPTED}
# Notifications that mean nothing to a person; any other unknown one is counted as skipped.
SILENT = frozenset(
    (
        "thread/started thread/status/changed thread/readState/changed thread/name/updated thread/settings/updated "
        "thread/closed thread/goal/updated thread/goal/cleared thread/queue/changed thread/archived thread/unarchived "
        "thread/prediction/updated thread/environment/connected thread/environment/disconnected turn/diff/updated "
        "turn/plan/updated turn/moderationMetadata hook/started hook/completed serverRequest/resolved "
        "item/commandExecution/outputDelta item/commandExecution/terminalInteraction item/fileChange/outputDelta "
        "item/reasoning/summaryPartAdded item/mcpToolCall/progress item/plan/delta rawResponseItem/completed "
        "rawResponse/completed item/autoApprovalReview/started item/autoApprovalReview/completed "
        "mcpServer/startupStatus/updated mcpServer/oauthLogin/completed remoteControl/status/changed account/updated "
        "app/list/updated skills/changed fs/changed warning configWarning deprecationNotice "
        "model/safetyBuffering/updated model/verification"
    ).split()
)


CodexTranslation: TypeAlias = tuple[list[Heard], CodexServerState]


def translate(line: bytes, state: CodexServerState, at: float = 0.0) -> CodexTranslation:
    """The facts of one line, which came at that time. A request of Codex's is for the link, and brings none here."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    if "method" not in record:
        return _reply(record, state)
    if "id" in record:
        return [], state
    return _notification(record.text("method"), record.fields("params"), state, at)


def _reply(record: Fields, state: CodexServerState) -> CodexTranslation:
    request, result = record.text("id"), record.fields("result")
    if not request:
        # A number is no name of ours; without any, it is no answer at all.
        return [], state if "id" in record else replace(state, skipped=state.skipped + 1)
    problem = record.fields("error").text("message") or ("it failed" if "error" in record else "")
    state = replace(state, answered=dict([*state.answered.items(), (request, problem)][-REMEMBERED:]))
    turn, thread = result.fields("turn").text("id"), result.fields("thread").text("id")
    if request.startswith(TURN) and turn:
        return [], _with_turn(state, turn, request[len(TURN) :])
    if request.startswith(OPEN) and thread and thread != state.session:
        return [Heard(fact=SessionKnown(session=thread))], replace(state, session=thread)
    return [], state


def _with_turn(state: CodexServerState, turn: str, ours: str) -> CodexServerState:
    return replace(state, turns=dict([*state.turns.items(), (turn, ours)][-REMEMBERED:]))


def _notification(method: str, params: Fields, state: CodexServerState, at: float) -> CodexTranslation:
    thread = params.text("threadId")
    if thread and state.session and thread != state.session:
        # A thread that the agent itself started: its words are for the agent.
        return [], state
    match method:
        case "item/started" | "item/completed":
            return _item(method == "item/completed", params, state)
        case "item/agentMessage/delta":
            return _message_delta(params, state)
        case "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta":
            return _reasoning_delta(params, state)
        case "item/fileChange/patchUpdated":
            return [], _with_change(
                params.text("itemId"), read_item(Fields({**params.plain, "type": "fileChange"})), state
            )
        case "thread/tokenUsage/updated":
            return _token_usage(params, state)
        case "account/rateLimits/updated":
            windows = usage_windows(params.fields("rateLimits"))
            return [], replace(
                state, resets_at=window_reset(windows) or state.resets_at, windows=windows or state.windows
            )
        case "turn/started":
            return _turn_started(params.fields("turn").text("id"), state)
        case "turn/completed":
            return _turn_completed(params.fields("turn"), state, at)
        case "error":
            return _retried(params, state)
        case "thread/compacted":
            return _facts_of_turn([Noted(text=COMPACTED)], params.text("turnId"), state)
        case "model/rerouted":
            return _facts_of_turn(
                [Noted(text=f"The model is {params.text('toModel')} now.")], params.text("turnId"), state
            )
        case method if method in SILENT or method.startswith("thread/realtime/"):
            return [], state
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _facts_of_turn(facts: list[Fact], turn: str, state: CodexServerState) -> CodexTranslation:
    """Facts of a turn; of one that nobody here began, first that it has started."""
    if not facts:
        return [], state
    started, state = _turn_started(turn, state) if turn and turn not in state.turns else ([], state)
    ours = state.turns.get(turn) or None
    return [*started, *(Heard(fact=fact, turn=ours) for fact in facts)], state


def _turn_started(turn: str, state: CodexServerState) -> CodexTranslation:
    if not turn:
        return [], replace(state, skipped=state.skipped + 1)
    started: list[Heard] = []
    if turn not in state.turns:
        state = _with_turn(state, turn, f"desk-{turn}")
        started = [Heard(fact=TurnStarted(), turn=f"desk-{turn}")]
    if state.running == turn:
        return started, state
    begun = (*state.begun, state.turns[turn])[-REMEMBERED:]
    return started, replace(state, running=turn, begun=begun, spoke=False, streamed={}, before=state.total)


# --- items


def _item(done: bool, params: Fields, state: CodexServerState) -> CodexTranslation:
    item, turn = read_item(params.fields("item")), params.text("turnId")
    facts: list[Fact] = []
    match item.kind:
        case "":
            return [], replace(state, skipped=state.skipped + 1)
        case "user":
            # Codex reports a message twice; the first time is proof enough.
            facts = [Seen(message=item.client)] if item.client and not done else []
        case "said" | "plan":
            facts, state = _message_done(item, state) if done else ([], state)
        case "thought":
            facts, state = _reasoning_done(item, state) if done else ([], state)
        case "compaction":
            facts = [Noted(text=COMPACTED)] if done else []
        case "warning" | "silent" | "todo":
            return [], state
        case _:
            facts, state = _tool(item, state, done=done)
    return _facts_of_turn(facts, turn, state)


def _tool(item: Item, state: CodexServerState, *, done: bool) -> tuple[list[Fact], CodexServerState]:
    facts: list[Fact] = []
    if item.id not in state.tools:
        facts.append(ToolStarted(call=item.id, tool=item.tool, title=item.title, detail=item.detail))
        state = replace(state, tools=(*state.tools, item.id)[-REMEMBERED:])
    state = _with_change(item.id, item, state)
    if done:
        facts.append(ToolEnded(call=item.id, ok=item.ok, output=item.output))
        others = {name: one for name, one in state.changes.items() if name != item.id}
        state = replace(state, tools=tuple(one for one in state.tools if one != item.id), changes=others)
    return facts, state


def _with_change(name: str, item: Item, state: CodexServerState) -> CodexServerState:
    if item.kind != "change" or not name:
        return state
    change = CodexFileChange(title=item.title, detail=item.whole, paths=item.paths)
    return replace(state, changes=dict([*state.changes.items(), (name, change)][-REMEMBERED:]))


def _message_delta(params: Fields, state: CodexServerState) -> CodexTranslation:
    """A piece of an answer, as it is streamed."""
    item, delta = params.text("itemId"), params.text("delta")
    if not delta:
        return [], state
    gap = "\n\n" if state.spoke and item not in state.streamed else ""
    state = replace(_with_streamed(item, len(delta), state), spoke=True)
    return _facts_of_turn([Said(text=gap + delta)], params.text("turnId"), state)


def _with_streamed(item: str, count: int, state: CodexServerState) -> CodexServerState:
    streamed = {**state.streamed, item: state.streamed.get(item, 0) + count}
    return replace(state, streamed=dict([*streamed.items()][-REMEMBERED:]))


def _without_streamed(item: str, state: CodexServerState) -> CodexServerState:
    return replace(state, streamed={name: count for name, count in state.streamed.items() if name != item})


def _message_done(item: Item, state: CodexServerState) -> tuple[list[Fact], CodexServerState]:
    """A whole message: only what was not streamed of it is said."""
    rest = item.text[state.streamed.get(item.id, 0) :]
    gap = "\n\n" if state.spoke and item.id not in state.streamed else ""
    facts: list[Fact] = [Said(text=gap + rest)] if rest else []
    return facts, replace(_without_streamed(item.id, state), spoke=state.spoke or bool(rest))


def _reasoning_delta(params: Fields, state: CodexServerState) -> CodexTranslation:
    item, delta = params.text("itemId"), params.text("delta")
    if not delta:
        return [], state
    return _facts_of_turn([Thought(text=delta)], params.text("turnId"), _with_streamed(item, len(delta), state))


def _reasoning_done(item: Item, state: CodexServerState) -> tuple[list[Fact], CodexServerState]:
    known = item.id in state.streamed
    return ([Thought(text=item.text)] if item.text and not known else []), _without_streamed(item.id, state)


# --- turns


def _token_usage(params: Fields, state: CodexServerState) -> CodexTranslation:
    told = params.fields("tokenUsage")
    total = Usage(
        input_tokens=told.fields("total").whole("inputTokens"),
        output_tokens=told.fields("total").whole("outputTokens"),
        context_tokens=told.fields("last").whole("totalTokens"),
        context_window=told.whole("modelContextWindow"),
    )
    state = replace(state, total=total)
    turn = params.text("turnId")
    if turn != state.running:
        # A thread that is resumed reports what it had used before.
        return [], state
    spent = _spent(state)
    return _facts_of_turn([Used(usage=spent)] if spent else [], turn, state)


def _spent(state: CodexServerState) -> Usage | None:
    spent = Usage(
        input_tokens=max(0, state.total.input_tokens - state.before.input_tokens),
        output_tokens=max(0, state.total.output_tokens - state.before.output_tokens),
    )
    if spent == Usage():
        return None
    told = state.total
    return replace(spent, context_tokens=told.context_tokens, context_window=told.context_window, windows=state.windows)


def _retried(params: Fields, state: CodexServerState) -> CodexTranslation:
    """An error after which Codex tries again, without a network for ever: told once a turn. Its end tells any other."""
    error, turn = params.fields("error"), params.text("turnId")
    words = f"{error.text('message')} {error.text('additionalDetails')}"
    if not params.flag("willRetry") or not is_network(words) or state.waited == turn:
        return [], state
    return _facts_of_turn([Noted(text=WAITS_FOR_NETWORK)], turn, replace(state, waited=turn))


def _turn_completed(turn: Fields, state: CodexServerState, at: float) -> CodexTranslation:
    name, error = turn.text("id"), turn.fields("error")
    how = ENDINGS.get(turn.text("status"), HowEnded.FAILED)
    facts: list[Fact] = []
    text = readable(error.text("message")) or "Codex ended the turn with an error."
    limited = limit(text, error_kind(error), state.resets_at, at) if how is HowEnded.FAILED else None
    if limited is not None:
        facts.append(limited)
    failed = text if how is HowEnded.FAILED else ""
    facts.append(TurnEnded(how=how, error=failed, usage=_spent(state) if state.running == name else None))
    heard, state = _facts_of_turn(facts, name, state)
    over = replace(state, running="", streamed={}, tools=(), changes={}, before=state.total)
    return heard, over if state.running in ("", name) else state
