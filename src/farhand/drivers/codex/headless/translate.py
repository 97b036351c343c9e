"""Turns what Codex's app-server reports into facts. Pure: no clock, no files."""

from __future__ import annotations

from typing import Final, TypeAlias

from farhand.drivers.codex.headless.state import CodexFileChange, CodexServerState
from farhand.drivers.codex.limits import error_kind, limit, readable, window_reset
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
from farhand.model.words import HowEnded, Usage, replace

REMEMBERED = 32
COMPACTED = "The conversation was compacted to make room."
TURN: Final = "turn:"
OPEN: Final = "open"
ENDINGS = {"completed": HowEnded.COMPLETED, "interrupted": HowEnded.INTERRUPTED}
# Reports that say nothing to a person; any other unknown one is counted as skipped.
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
        "app/list/updated skills/changed fs/changed warning configWarning deprecationNotice error "
        "model/safetyBuffering/updated model/verification"
    ).split()
)


Told: TypeAlias = tuple[list[Heard], CodexServerState]


def translate(line: bytes, state: CodexServerState, at: float = 0.0) -> Told:
    """The facts of one line, which came at that time. A request of Codex's is the driver's own, and none here."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    if "method" not in record:
        return _answered(record, state)
    if "id" in record:
        return [], state
    return _reported(record.text("method"), record.fields("params"), state, at)


def _answered(record: Fields, state: CodexServerState) -> Told:
    request, result = record.text("id"), record.fields("result")
    if not request:
        # A number is no name of ours; without any, it is no answer at all.
        return [], state if "id" in record else replace(state, skipped=state.skipped + 1)
    problem = record.fields("error").text("message") or ("it failed" if "error" in record else "")
    state = replace(state, answered=dict([*state.answered.items(), (request, problem)][-REMEMBERED:]))
    turn, thread = result.fields("turn").text("id"), result.fields("thread").text("id")
    if request.startswith(TURN) and turn:
        return [], _known(state, turn, request[len(TURN) :])
    if request.startswith(OPEN) and thread and thread != state.session:
        return [Heard(fact=SessionKnown(session=thread))], replace(state, session=thread)
    return [], state


def _known(state: CodexServerState, turn: str, ours: str) -> CodexServerState:
    return replace(state, turns=dict([*state.turns.items(), (turn, ours)][-REMEMBERED:]))


def _reported(method: str, params: Fields, state: CodexServerState, at: float) -> Told:
    thread = params.text("threadId")
    if thread and state.session and thread != state.session:
        # A thread that the agent itself started: its words are for the agent.
        return [], state
    match method:
        case "item/started" | "item/completed":
            return _item(method == "item/completed", params, state)
        case "item/agentMessage/delta":
            return _streamed(params, state)
        case "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta":
            return _thinking(params, state)
        case "item/fileChange/patchUpdated":
            return [], _changed(params.text("itemId"), read_item(Fields({**params.plain, "type": "fileChange"})), state)
        case "thread/tokenUsage/updated":
            return _used(params, state)
        case "account/rateLimits/updated":
            found = window_reset(params.fields("rateLimits"))
            return [], replace(state, resets_at=found) if found else state
        case "turn/started":
            return _began(params.fields("turn").text("id"), state)
        case "turn/completed":
            return _ended(params.fields("turn"), state, at)
        case "thread/compacted":
            return _heard([Noted(text=COMPACTED)], params.text("turnId"), state)
        case "model/rerouted":
            return _heard([Noted(text=f"The model is {params.text('toModel')} now.")], params.text("turnId"), state)
        case method if method in SILENT or method.startswith("thread/realtime/"):
            return [], state
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _heard(facts: list[Fact], turn: str, state: CodexServerState) -> Told:
    """Facts of a turn; one that nobody here began is told to have started."""
    if not facts:
        return [], state
    started, state = _began(turn, state) if turn and turn not in state.turns else ([], state)
    ours = state.turns.get(turn) or None
    return [*started, *(Heard(fact=fact, turn=ours) for fact in facts)], state


def _began(turn: str, state: CodexServerState) -> Told:
    if not turn:
        return [], replace(state, skipped=state.skipped + 1)
    started: list[Heard] = []
    if turn not in state.turns:
        state = _known(state, turn, f"desk-{turn}")
        started = [Heard(fact=TurnStarted(), turn=f"desk-{turn}")]
    if state.running == turn:
        return started, state
    begun = (*state.begun, state.turns[turn])[-REMEMBERED:]
    return started, replace(state, running=turn, begun=begun, spoke=False, told={}, before=state.total)


# --- items


def _item(done: bool, params: Fields, state: CodexServerState) -> Told:
    item, turn = read_item(params.fields("item")), params.text("turnId")
    facts: list[Fact] = []
    match item.kind:
        case "":
            return [], replace(state, skipped=state.skipped + 1)
        case "user":
            # Codex shows a message twice; the first time is proof enough.
            facts = [Seen(message=item.client)] if item.client and not done else []
        case "said" | "plan":
            facts, state = _written(item, state) if done else ([], state)
        case "thought":
            facts, state = _thought(item, state) if done else ([], state)
        case "compaction":
            facts = [Noted(text=COMPACTED)] if done else []
        case "warning" | "silent" | "todo":
            return [], state
        case _:
            facts, state = _tool(item, state, done=done)
    return _heard(facts, turn, state)


def _tool(item: Item, state: CodexServerState, *, done: bool) -> tuple[list[Fact], CodexServerState]:
    facts: list[Fact] = []
    if item.id not in state.tools:
        facts.append(ToolStarted(call=item.id, tool=item.tool, title=item.title, detail=item.detail))
        state = replace(state, tools=(*state.tools, item.id)[-REMEMBERED:])
    state = _changed(item.id, item, state)
    if done:
        facts.append(ToolEnded(call=item.id, ok=item.ok, output=item.output))
        kept = {name: one for name, one in state.changes.items() if name != item.id}
        state = replace(state, tools=tuple(one for one in state.tools if one != item.id), changes=kept)
    return facts, state


def _changed(name: str, item: Item, state: CodexServerState) -> CodexServerState:
    if item.kind != "change" or not name:
        return state
    change = CodexFileChange(title=item.title, detail=item.detail)
    return replace(state, changes=dict([*state.changes.items(), (name, change)][-REMEMBERED:]))


def _streamed(params: Fields, state: CodexServerState) -> Told:
    """Words as they come."""
    item, delta = params.text("itemId"), params.text("delta")
    if not delta:
        return [], state
    gap = "\n\n" if state.spoke and item not in state.told else ""
    state = replace(_counted(item, len(delta), state), spoke=True)
    return _heard([Said(text=gap + delta)], params.text("turnId"), state)


def _counted(item: str, count: int, state: CodexServerState) -> CodexServerState:
    told = {**state.told, item: state.told.get(item, 0) + count}
    return replace(state, told=dict([*told.items()][-REMEMBERED:]))


def _forgotten(item: str, state: CodexServerState) -> CodexServerState:
    return replace(state, told={name: count for name, count in state.told.items() if name != item})


def _written(item: Item, state: CodexServerState) -> tuple[list[Fact], CodexServerState]:
    """A message is whole: say what its stream has not said."""
    rest = item.text[state.told.get(item.id, 0) :]
    gap = "\n\n" if state.spoke and item.id not in state.told else ""
    facts: list[Fact] = [Said(text=gap + rest)] if rest else []
    return facts, replace(_forgotten(item.id, state), spoke=state.spoke or bool(rest))


def _thinking(params: Fields, state: CodexServerState) -> Told:
    item, delta = params.text("itemId"), params.text("delta")
    if not delta:
        return [], state
    return _heard([Thought(text=delta)], params.text("turnId"), _counted(item, len(delta), state))


def _thought(item: Item, state: CodexServerState) -> tuple[list[Fact], CodexServerState]:
    known = item.id in state.told
    return ([Thought(text=item.text)] if item.text and not known else []), _forgotten(item.id, state)


# --- turns


def _used(params: Fields, state: CodexServerState) -> Told:
    total = params.fields("tokenUsage").fields("total")
    state = replace(
        state, total=Usage(input_tokens=total.whole("inputTokens"), output_tokens=total.whole("outputTokens"))
    )
    turn = params.text("turnId")
    if turn != state.running:
        # A thread that is taken up again tells what it had used.
        return [], state
    spent = _spent(state)
    return _heard([Used(usage=spent)] if spent else [], turn, state)


def _spent(state: CodexServerState) -> Usage | None:
    spent = Usage(
        input_tokens=max(0, state.total.input_tokens - state.before.input_tokens),
        output_tokens=max(0, state.total.output_tokens - state.before.output_tokens),
    )
    return spent if spent != Usage() else None


def _ended(turn: Fields, state: CodexServerState, at: float) -> Told:
    name, error = turn.text("id"), turn.fields("error")
    how = ENDINGS.get(turn.text("status"), HowEnded.FAILED)
    facts: list[Fact] = []
    text = readable(error.text("message")) or "Codex ended the turn with an error."
    limited = limit(text, error_kind(error), state.resets_at, at) if how is HowEnded.FAILED else None
    if limited is not None:
        facts.append(limited)
    failed = text if how is HowEnded.FAILED else ""
    facts.append(TurnEnded(how=how, error=failed, usage=_spent(state) if state.running == name else None))
    heard, state = _heard(facts, name, state)
    over = replace(state, running="", told={}, tools=(), changes={}, before=state.total)
    return heard, over if state.running in ("", name) else state
