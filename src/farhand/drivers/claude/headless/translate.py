"""Translates the lines of Claude Code's stream-json into facts. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.claude.headless.state import ClaudeStreamState
from farhand.drivers.claude.limits import event_reset, event_windows, limit
from farhand.drivers.claude.schema import blocks, input_of, plain_text
from farhand.drivers.claude.tmux.translate import INTERRUPTED, LONGEST_OUTPUT, wordless
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.tmux.delivered_log import squeezed
from farhand.model.facts import (
    Fact,
    Limited,
    Noted,
    Said,
    Seen,
    SessionKnown,
    Thought,
    ToolEnded,
    TurnEnded,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, replace

REMEMBERED = 8
SILENT = frozenset("keep_alive tool_progress control_cancel_request".split())


def translate_stream(line: bytes, state: ClaudeStreamState, at: float = 0.0) -> tuple[list[Heard], ClaudeStreamState]:
    """The facts of one line, which came at that time. A `control_request` is for the link."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    if record.text("parent_tool_use_id"):
        return [], state
    facts, state = _facts(record, state, at)
    started: list[Heard] = []
    if facts and not state.running and not _only_about_session(facts):
        started, state = _turn_begins(record, state)
    heard = [Heard(fact=fact, turn=_turn_of(fact, state)) for fact in facts]
    if any(isinstance(fact, TurnEnded) for fact in facts):
        state = replace(state, running=False, turn="")
    return started + heard, state


def _turn_of(fact: Fact, state: ClaudeStreamState) -> str | None:
    return None if isinstance(fact, SessionKnown) else state.turn or None


def _turn_begins(record: Fields, state: ClaudeStreamState) -> tuple[list[Heard], ClaudeStreamState]:
    """Output without a running turn begins one: that of the first message it was given, or one of its own."""
    first = next((one for one in state.expected if one.turn), None)
    if first is not None:
        return [], replace(state, running=True, turn=first.turn)
    turn = f"desk-{record.text('uuid')}"
    return [Heard(fact=TurnStarted(), turn=turn)], replace(state, running=True, turn=turn)


def _only_about_session(facts: list[Fact]) -> bool:
    return all(isinstance(fact, SessionKnown | TurnEnded | Limited | Noted | Used) for fact in facts)


def _facts(record: Fields, state: ClaudeStreamState, at: float) -> tuple[list[Fact], ClaudeStreamState]:
    match record.text("type"):
        case "system":
            return _system(record, state)
        case "stream_event":
            return _stream_event(record.fields("event"), state)
        case "assistant":
            return _assistant(record, state)
        case "user":
            return _user(record, state)
        case "result":
            return _result(record, state, at)
        case "rate_limit_event":
            windows = event_windows(record) or state.windows
            return [], replace(state, resets_at=event_reset(record), windows=windows)
        case "control_request":
            return [], state
        case "control_response":
            return [], _answered(record.fields("response"), state)
        case kind if kind in SILENT:
            return [], state
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _answered(response: Fields, state: ClaudeStreamState) -> ClaudeStreamState:
    request = response.text("request_id")
    if not request:
        return replace(state, skipped=state.skipped + 1)
    problem = (response.text("error") or "it failed") if response.text("subtype") == "error" else ""
    return replace(state, answered=dict([*state.answered.items(), (request, problem)][-REMEMBERED:]))


def _system(record: Fields, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    session = record.text("session_id")
    if record.text("subtype") == "init" and session and session != state.session:
        return [SessionKnown(session=session)], replace(state, session=session)
    if record.text("subtype") == "compact_boundary":
        return [Noted(text="The conversation was compacted to make room.")], state
    return [], state


def _stream_event(event: Fields, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    kind, delta = event.text("type"), event.fields("delta")
    if kind == "content_block_start":
        return [], replace(state, text="", thought="")
    if kind == "content_block_delta" and delta.text("text"):
        return _text_delta(delta.text("text"), state)
    if kind == "content_block_delta" and (thought := delta.text("thinking")):
        return [Thought(text=thought)], replace(state, thought=state.thought + thought)
    return [], state


def _text_delta(delta: str, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    gap = "\n\n" if state.spoke and not state.text else ""
    return [Said(text=gap + delta)], replace(state, text=state.text + delta, spoke=True)


def _assistant(record: Fields, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    message = record.fields("message")
    # An error of the API comes as the text of a model that does not exist; the result line reports it as an error.
    if message.text("model") == "<synthetic>":
        return [], state
    facts: list[Fact] = []
    for block in blocks(message):
        added, state = _block(block, state)
        facts = facts + added
    if (usage := message.fields("usage")) and not record.text("parent_tool_use_id"):
        # What a helper of the agent read is not in the conversation.
        state = replace(state, context=input_of(usage) + usage.whole("output_tokens"))
    return facts, state


def _block(block: Fields, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    match block.text("type"):
        case "text":
            text = block.text("text")
            rest = text[len(state.text) :] if text.startswith(state.text) else text
            gap = "\n\n" if state.spoke and not state.text else ""
            said: list[Fact] = [Said(text=gap + rest)] if rest else []
            return said, replace(state, text="", spoke=state.spoke or bool(text))
        case "thinking":
            thought = block.text("thinking")
            rest = thought[len(state.thought) :] if thought.startswith(state.thought) else thought
            return ([Thought(text=rest)] if rest else []), replace(state, thought="")
        case _:
            done = wordless(block)
            return done or [], state if done is not None else replace(state, skipped=state.skipped + 1)


def _user(record: Fields, state: ClaudeStreamState) -> tuple[list[Fact], ClaudeStreamState]:
    content = blocks(record.fields("message"))
    results = [block for block in content if block.text("type") == "tool_result"]
    if results:
        return [_tool_ended(block) for block in results], state
    text = "\n".join(block.text("text") for block in content if block.text("type") == "text")
    if text.strip() in INTERRUPTED:
        return [], state
    found = next((one for one in state.expected if squeezed(one.text) == squeezed(text)), None)
    if found is None:
        return [], state
    rest = tuple(one for one in state.expected if one is not found)
    turn = state.turn if state.running and not found.turn else found.turn
    # One that was to join a turn which is over by now begins its own, as its sender's.
    late: list[Fact] = [] if turn else [TurnStarted(joined=found.message)]
    turn = turn or f"desk-{record.text('uuid')}"
    return [*late, Seen(message=found.message)], replace(state, expected=rest, running=True, turn=turn)


def _tool_ended(block: Fields) -> Fact:
    output = plain_text(block.any("content"))
    return ToolEnded(call=block.text("tool_use_id"), ok=not block.flag("is_error"), output=output[:LONGEST_OUTPUT])


def _result(record: Fields, state: ClaudeStreamState, at: float) -> tuple[list[Fact], ClaudeStreamState]:
    usage = record.fields("usage")
    total = record.number("total_cost_usd")
    cost = None if total is None else max(0.0, round(total - state.cost_before, 10))
    spent = Usage(
        input_tokens=input_of(usage),
        output_tokens=usage.whole("output_tokens"),
        cost_dollars=cost,
        context_tokens=state.context,
        context_window=_window(record.any("modelUsage")),
        windows=state.windows,
    )
    how, error = _ending(record)
    fresh = ClaudeStreamState(
        session=state.session,
        running=True,
        turn=state.turn or next((one.turn for one in state.expected if one.turn), ""),
        expected=tuple(one for one in state.expected if not one.turn or one.turn != state.turn),
        cost_before=state.cost_before if total is None else total,
        windows=state.windows,
        skipped=state.skipped,
    )
    limited = limit(record, error, at) if how is HowEnded.FAILED else None
    first: list[Fact] = [replace(limited, until=state.resets_at or limited.until)] if limited else []
    return [*first, TurnEnded(how=how, error=error, usage=spent)], fresh


def _window(used: object) -> int:
    """The largest window of the models that worked: helpers of the agent may have a smaller one."""
    models = used.values() if isinstance(used, dict) else ()
    return max((Fields(one).whole("contextWindow") for one in models), default=0)


def _ending(record: Fields) -> tuple[HowEnded, str]:
    if record.text("terminal_reason").startswith("aborted"):
        return HowEnded.INTERRUPTED, ""
    if record.flag("is_error"):
        return HowEnded.FAILED, record.text("result") or _errors(record) or "Claude Code ended the turn with an error."
    return HowEnded.COMPLETED, ""


def _errors(record: Fields) -> str:
    errors = record.any("errors")
    return "; ".join(str(one) for one in errors) if isinstance(errors, list) else record.text("subtype")
