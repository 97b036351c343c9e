"""Translates Claude Code's transcript, and what its status line is given, into facts. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.claude.limits import limit, status_windows
from farhand.drivers.claude.schema import blocks, input_of, plain_text
from farhand.drivers.claude.titles import detail, title
from farhand.drivers.claude.tmux.state import (
    COMMAND_PROMPT,
    ClaudeState,
    Translated,
    after_older_turn,
    awaited,
    before_end,
    began,
    conclude,
    end_turn,
    of_older_turn,
    prompted,
    say,
    seen,
    written,
)
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.facts import (
    Fact,
    Noted,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, replace

LONGEST_OUTPUT = 4000
INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
# What Claude Code itself puts where a prompt has no answer, when it goes on after it was killed: no model said so.
SYNTHETIC, NO_ANSWER = "<synthetic>", "No response requested."
# Lines that say nothing to a person; any other unknown kind is counted as skipped.
SILENT = frozenset(
    (
        "mode permission-mode atis-latch file-history-snapshot last-prompt api-request api-request-shape "
        "api-request-blob queue-operation summary cost-state custom-title ai-title agent-name tag pr-link "
        "attribution-snapshot progress"
    ).split()
)
SILENT_SYSTEM = frozenset(
    "stop_hook_summary local_command informational bridge_status away_summary memory_saved status".split()
)


def translate(line: bytes, state: ClaudeState, at: float = 0.0) -> Translated:
    """The facts of one transcript line, which was read at that time."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    kind = record.text("type")
    if record.flag("isSidechain") or kind in SILENT:
        return [], state
    match kind:
        case "user":
            return _user(record, state)
        case "assistant":
            return _assistant(record, state, at)
        case "system":
            return _system(record, state)
        case "attachment":
            return _attachment(record, state)
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _heard(facts: list[Fact], state: ClaudeState) -> list[Heard]:
    """Facts of the transcript belong to the turn that the transcript has come to."""
    turn = state.prompts.get(state.written, state.turn)
    return [Heard(fact=fact, turn=turn or None) for fact in facts]


def _is_late(state: ClaudeState) -> bool:
    """Whether the transcript still tells of a turn before the running one."""
    return state.prompts.get(state.written, state.turn) != state.turn


# --- what people say


def _user(record: Fields, state: ClaudeState) -> Translated:
    content = blocks(record.fields("message"))
    results = [block for block in content if block.text("type") == "tool_result"]
    if results:
        over = {block.text("tool_use_id") for block in results}
        calls = tuple(call for call in state.calls if call not in over)
        if _is_late(state):
            state = replace(state, concluded=False, calls=calls)
        else:
            # What was displayed before a tool ran are not the last words.
            state = replace(state, concluded=False, calls=calls, thought=False, shown="", whole=False)
        return _heard([_tool_ended(block) for block in results], state), state
    text = "\n".join(block.text("text") for block in content if block.text("type") == "text")
    if text.strip() in INTERRUPTED:
        ended, state = end_turn(state, state.written or state.prompt, HowEnded.INTERRUPTED)
        # Words of this turn that stand nowhere before this line were given up: none of them comes behind it.
        return ended, state if _is_late(state) else replace(state, streamed="")
    if record.flag("isMeta") or not text.strip():
        # Words that were displayed and are not written yet come behind this line: it stands within their turn.
        return [], replace(state, prodded=not state.running and not state.streamed)
    if text.startswith("<"):
        return _wrapped(record, text, state)
    prompt = record.text("promptId") or record.text("uuid")
    heard, state = prompted(text, prompt, state)
    # Whoever speaks next answers this prompt, also where its turn is over: no hook has it go on.
    return heard, replace(state, written=prompt, prodded=False)


def _tool_ended(block: Fields) -> Fact:
    output = plain_text(block.any("content"))
    return ToolEnded(call=block.text("tool_use_id"), ok=not block.flag("is_error"), output=output[:LONGEST_OUTPUT])


def _wrapped(record: Fields, text: str, state: ClaudeState) -> Translated:
    """A slash command that the CLI answers itself, or what it printed."""
    command = _between(text, "<command-name>", "</command-name>")
    if command:
        whole = f"{command} {_between(text, '<command-args>', '</command-args>')}"
        if awaited(whole, state) is None:
            return [], state
        prompt = record.text("promptId") or record.text("uuid")
        heard, state = prompted(whole, prompt, state)
        return heard, replace(state, command=True, written=prompt)
    if not state.command or "<local-command-stdout>" not in text:
        return [], state
    printed = _without_colours(_between(text, "<local-command-stdout>", "</local-command-stdout>"))
    said, state = say(printed, state)
    heard = _heard(said, state)
    ended, state = end_turn(state, state.prompt, HowEnded.COMPLETED)
    return heard + ended, state


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0].strip()


def _without_colours(text: str) -> str:
    pieces = text.split("\x1b[")
    return pieces[0] + "".join(piece.partition("m")[2] for piece in pieces[1:])


def _attachment(record: Fields, state: ClaudeState) -> Translated:
    attachment = record.fields("attachment")
    if attachment.text("type") != "queued_command":
        return [], state
    text = attachment.text("prompt") or plain_text(attachment.any("prompt"))
    return seen(awaited(text, state), state.turn, state)


# --- what the agent says


def _assistant(record: Fields, state: ClaudeState, at: float) -> Translated:
    message = record.fields("message")
    if record.flag("isApiErrorMessage"):
        error = plain_text(message.any("content")) or "The model could not be reached."
        ended, over = end_turn(state, state.written or state.prompt, HowEnded.FAILED, error)
        return before_end(ended, limit(record, error, record.written_at() or at)), over
    if message.text("model") == SYNTHETIC and plain_text(message.any("content")).strip() == NO_ANSWER:
        return [], state
    heard, state = _resumed(record, state)
    late, before = _is_late(state), state
    state = of_older_turn(state) if late else state
    for block in blocks(message):
        facts, state = _block(block, state)
        heard = heard + _heard(facts, state)
    if late:
        used, state = _used_before(message, after_older_turn(state, before))
        return heard + _heard(used, state), state
    used, state = _used(message, state)
    state = replace(state, concluded=message.text("stop_reason") == "end_turn")
    ended, state = conclude(state)
    return heard + _heard(used, state) + ended, state


def _resumed(record: Fields, state: ClaudeState) -> Translated:
    """The agent speaks though no turn runs: another hook or the desk made it go on, or these are late words."""
    if state.running or (state.turn and not state.prodded):
        return [], state
    prompt = record.text("uuid")
    began_at_desk = replace(began(state, f"desk-{prompt}", prompt), written=prompt)
    return [Heard(fact=TurnStarted(), turn=began_at_desk.turn)], began_at_desk


def _block(block: Fields, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    match block.text("type"):
        case "text":
            return written(block.text("text"), state)
        case "thinking":
            thought = block.text("thinking")
            return ([Thought(text=thought)], replace(state, thinks=True, thought=True)) if thought else ([], state)
        case _:
            done = wordless(block)
            return done or [], state if done is not None else replace(state, skipped=state.skipped + 1)


def wordless(block: Fields) -> list[Fact] | None:
    """What a block means that is no word or thought of the agent's; None for one that is not known."""
    match block.text("type"):
        case "redacted_thinking":
            return []
        case "tool_use" | "server_tool_use":
            return [_tool_started(block)]
        case _:
            return None


def _tool_started(block: Fields) -> ToolStarted:
    tool, arguments = block.text("name"), block.fields("input")
    return ToolStarted(
        call=block.text("id"),
        tool=tool,
        title=title(tool, arguments),
        detail=detail(tool, arguments)[:LONGEST_OUTPUT],
    )


def _used(message: Fields, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    """Every block of a message repeats its usage: it counts once."""
    total = _added(message, state.usage, state.counted)
    if total is None:
        return [], state
    return [Used(usage=total)], replace(state, usage=total, counted=message.text("id"))


def _used_before(message: Fields, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    """The same for the turn before the running one, whose end was told before the transcript had its last line."""
    total = _added(message, state.usage_before, state.counted)
    if total is None or state.prompts.get(state.written) != state.turn_before:
        return [], state
    return [Used(usage=total)], replace(state, usage_before=total, counted=message.text("id"))


def _added(message: Fields, sofar: Usage, counted: str) -> Usage | None:
    usage, name = message.fields("usage"), message.text("id")
    if not usage or not name or name == counted:
        return None
    read = input_of(usage)
    return replace(
        sofar,
        input_tokens=sofar.input_tokens + read,
        output_tokens=sofar.output_tokens + usage.whole("output_tokens"),
        context_tokens=read + usage.whole("output_tokens"),
    )


# --- turns and the CLI's own lines


def _unknown_command(content: str, state: ClaudeState) -> Translated:
    """What the CLI says of a command that it does not know is the answer of that command's turn, and its end.

    It may be written before the command's delivery is through: then the turn begins with it."""
    heard: list[Heard] = []
    expected = next((one for one in state.expected if one.text.startswith("/")), None)
    if not state.running and expected is not None:
        heard, state = prompted(expected.text, f"{COMMAND_PROMPT}{expected.message}", state)
    if not state.running or not state.prompt.startswith(COMMAND_PROMPT):
        return heard, state
    said, state = say(content, state)
    # A command has no prompt in the transcript, which still stands at the one before.
    answer = [Heard(fact=fact, turn=state.turn or None) for fact in said]
    ended, state = end_turn(state, state.prompt, HowEnded.COMPLETED)
    return [*heard, *answer, *ended], state


def _system(record: Fields, state: ClaudeState) -> Translated:
    subtype = record.text("subtype")
    if subtype == "turn_duration":
        return end_turn(state, state.written or state.prompt, HowEnded.COMPLETED)
    if subtype == "compact_boundary":
        return _heard([Noted(text="The conversation was compacted to make room.")], state), state
    if subtype == "api_error":
        return [], state
    if subtype == "local_command":
        return _wrapped(record, record.text("content"), state)
    if subtype == "informational" and record.text("content").startswith("Unknown command"):
        return _unknown_command(record.text("content"), state)
    if subtype in SILENT_SYSTEM:
        return [], state
    return [], replace(state, skipped=state.skipped + 1)


# --- costs, as Claude Code itself counts them


def translate_cost(payload: bytes, state: ClaudeState) -> Translated:
    """What the status line was told: the running turn's cost, or that of the turn which has just ended."""
    record = parse(payload)
    total = record.fields("cost").number("total_cost_usd") if record else None
    if record is None or total is None or record.text("session_id") != state.session or total == state.cost:
        return [], state
    # A new life of the agent may count from nothing.
    before = state.cost_before if total >= state.cost_before else 0.0
    state = replace(state, cost=total, cost_before=before)
    if state.prompts.get(record.text("prompt_id")) != state.turn or not state.turn:
        # Nobody's turn: what a session had cost before it was taken up again.
        return [], replace(state, cost_before=total)
    window = record.fields("context_window").whole("context_window_size") or state.usage.context_window
    windows = status_windows(record) or state.usage.windows
    cost = round(total - before, 10)
    usage = replace(state.usage, cost_dollars=cost, context_window=window, windows=windows)
    return [Heard(fact=Used(usage=usage), turn=state.turn)], replace(state, usage=usage)
