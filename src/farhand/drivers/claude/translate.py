"""Turns Claude Code's transcript lines and hook payloads into facts. Pure: no clock, no files."""

from __future__ import annotations

from typing import TypeAlias

from farhand.drivers.claude.limits import limit, written_at
from farhand.drivers.claude.schema import blocks, plain_text
from farhand.drivers.claude.titles import detail, title
from farhand.drivers.wires.fields import Fields, parse
from farhand.drivers.wires.handed import Expected, squeezed
from farhand.model.facts import (
    Fact,
    Limited,
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
from farhand.model.words import HowEnded, Usage, Word, replace

LONGEST_OUTPUT = 4000
REMEMBERED = 16
INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
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


class State(Word):
    """What the translation remembers between records; it travels in the wire's cursor."""

    session: str = ""
    # The running turn: the core's name for it, and the CLI's own for its prompt.
    turn: str = ""
    prompt: str = ""
    running: bool = False
    # A slash command: its turn ends with what the CLI prints.
    command: bool = False
    spoke: bool = False
    # Prompts seen, with their turns, and prompts whose end was told: hooks and transcript tell of both.
    prompts: dict[str, str] = {}
    over: tuple[str, ...] = ()
    # The prompt that the transcript has come to: hooks may be ahead of it by a turn.
    written: str = ""
    # What a Stop hook said were the last words, until the transcript has them too.
    stopped: str = ""
    # Displayed and told, but not in the transcript yet; in the transcript and told, but not displayed yet.
    streamed: str = ""
    covered: str = ""
    # The message that is being displayed, and which of its pieces must come next.
    showing: str = ""
    piece: int = 0
    expected: tuple[Expected, ...] = ()
    usage: Usage = Usage()
    counted: str = ""
    # The agent's last words in this turn, and whether they were meant to be the last.
    last_text: str = ""
    concluded: bool = False
    # Somebody's hook told the agent to go on after the end.
    prodded: bool = False
    skipped: int = 0


Told: TypeAlias = tuple[list[Heard], State]


def translate(line: bytes, state: State, at: float = 0.0) -> Told:
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


def _heard(facts: list[Fact], state: State) -> list[Heard]:
    """Facts of the transcript belong to the turn that the transcript has come to."""
    turn = state.prompts.get(state.written, state.turn)
    return [Heard(fact=fact, turn=turn or None) for fact in facts]


def _is_late(state: State) -> bool:
    """Whether the transcript still tells of a turn before the running one."""
    return state.prompts.get(state.written, state.turn) != state.turn


# --- what people say


def _user(record: Fields, state: State) -> Told:
    content = blocks(record.fields("message"))
    results = [block for block in content if block.text("type") == "tool_result"]
    if results:
        return _heard([_tool_ended(block) for block in results], state), replace(state, concluded=False)
    text = "\n".join(block.text("text") for block in content if block.text("type") == "text")
    if text.strip() in INTERRUPTED:
        return end_turn(state, state.written or state.prompt, HowEnded.INTERRUPTED)
    if record.flag("isMeta") or not text.strip():
        return [], replace(state, prodded=not state.running)
    if text.startswith("<"):
        return _wrapped(record, text, state)
    prompt = record.text("promptId") or record.text("uuid")
    heard, state = prompted(text, prompt, state)
    return heard, replace(state, written=prompt)


def _tool_ended(block: Fields) -> Fact:
    output = plain_text(block.any("content"))
    return ToolEnded(call=block.text("tool_use_id"), ok=not block.flag("is_error"), output=output[:LONGEST_OUTPUT])


def _wrapped(record: Fields, text: str, state: State) -> Told:
    """A slash command that the CLI answers itself, or what it printed."""
    command = _between(text, "<command-name>", "</command-name>")
    if command:
        whole = f"{command} {_between(text, '<command-args>', '</command-args>')}"
        if _expected(whole, state) is None:
            return [], state
        prompt = record.text("promptId") or record.text("uuid")
        heard, state = prompted(whole, prompt, state)
        return heard, replace(state, command=True, written=prompt)
    if not state.command or "<local-command-stdout>" not in text:
        return [], state
    printed = _without_colours(_between(text, "<local-command-stdout>", "</local-command-stdout>"))
    said, state = _say(printed, state)
    told = _heard(said, state)
    ended, state = end_turn(state, state.prompt, HowEnded.COMPLETED)
    return told + ended, state


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0].strip()


def _without_colours(text: str) -> str:
    pieces = text.split("\x1b[")
    return pieces[0] + "".join(piece.partition("m")[2] for piece in pieces[1:])


def _expected(text: str, state: State) -> Expected | None:
    return next((one for one in state.expected if squeezed(one.text) == squeezed(text)), None)


def began(state: State, turn: str, prompt: str) -> State:
    """The state at the beginning of a turn."""
    fresh = replace(_known(state, prompt, turn), spoke=False, command=False, covered="", usage=Usage(), stopped="")
    fresh = replace(fresh, last_text="", concluded=False, prodded=False)
    return replace(fresh, turn=turn, prompt=prompt, running=True)


def _known(state: State, prompt: str, turn: str) -> State:
    return replace(state, prompts=dict([*state.prompts.items(), (prompt, turn)][-REMEMBERED:]))


def prompted(text: str, prompt: str, state: State) -> Told:
    """A prompt has reached the agent: one of ours is seen, any other began at the desk."""
    if prompt in state.over or prompt in state.prompts:
        return [], state
    found = _expected(text, state)
    if found is not None and not found.turn and state.running:
        seen, state = _seen(found, state.turn, state)
        return seen, _known(state, prompt, state.turn)
    turn = found.turn if found is not None and found.turn else f"desk-{prompt}"
    # The agent began something new: what ran before is over, though the transcript is late to say so.
    before, state = end_turn(state, state.prompt, HowEnded.COMPLETED) if turn != state.turn else ([], state)
    seen, state = _seen(found, turn, state)
    started = [] if found is not None and found.turn else [Heard(fact=TurnStarted(), turn=turn)]
    return [*before, *started, *seen], began(state, turn, prompt)


def _seen(found: Expected | None, turn: str, state: State) -> Told:
    if found is None:
        return [], state
    rest = tuple(one for one in state.expected if one is not found)
    return [Heard(fact=Seen(message=found.message), turn=turn)], replace(state, expected=rest)


def _attachment(record: Fields, state: State) -> Told:
    attachment = record.fields("attachment")
    if attachment.text("type") != "queued_command":
        return [], state
    text = attachment.text("prompt") or plain_text(attachment.any("prompt"))
    return _seen(_expected(text, state), state.turn, state)


# --- what the agent says


def _assistant(record: Fields, state: State, at: float) -> Told:
    message = record.fields("message")
    if record.flag("isApiErrorMessage"):
        error = plain_text(message.any("content")) or "The model could not be reached."
        ended, over = end_turn(state, state.written or state.prompt, HowEnded.FAILED, error)
        return before_end(ended, limit(record, error, written_at(record) or at)), over
    heard, state = _resumed(record, state)
    late, before = _is_late(state), state
    for block in blocks(message):
        facts, state = _block(block, state)
        heard = heard + _heard(facts, state)
    if late:
        # Words of an older turn: they change nothing of the running one.
        fields = {"spoke": before.spoke, "last_text": before.last_text, "covered": before.covered}
        return heard, replace(state, **fields)
    used, state = _used(message, state)
    state = replace(state, concluded=message.text("stop_reason") == "end_turn")
    ended, state = conclude(state)
    return heard + _heard(used, state) + ended, state


def conclude(state: State) -> Told:
    """Ends the turn if its hook and the transcript agree on the last words."""
    if not state.stopped or not state.concluded or state.stopped != state.last_text.strip():
        return [], state
    return end_turn(state, state.prompt, HowEnded.COMPLETED)


def _resumed(record: Fields, state: State) -> Told:
    """The agent speaks though no turn runs: another hook or the desk made it go on, or these are late words."""
    if state.running or (state.turn and not state.prodded):
        return [], state
    prompt = record.text("uuid")
    began_at_desk = replace(began(state, f"desk-{prompt}", prompt), written=prompt)
    return [Heard(fact=TurnStarted(), turn=began_at_desk.turn)], began_at_desk


def _block(block: Fields, state: State) -> tuple[list[Fact], State]:
    match block.text("type"):
        case "text":
            return _written(block.text("text"), state)
        case "thinking":
            thought = block.text("thinking")
            return ([Thought(text=thought)] if thought else []), state
        case "redacted_thinking":
            return [], state
        case "tool_use" | "server_tool_use":
            return [tool_started(block)], state
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def tool_started(block: Fields) -> ToolStarted:
    """A tool call with its human title."""
    tool, arguments = block.text("name"), block.fields("input")
    return ToolStarted(
        call=block.text("id"),
        tool=tool,
        title=title(tool, arguments),
        detail=detail(tool, arguments)[:LONGEST_OUTPUT],
    )


def _say(text: str, state: State) -> tuple[list[Fact], State]:
    if not text:
        return [], state
    gap = "\n\n" if state.spoke else ""
    return [Said(text=gap + text)], replace(state, spoke=True)


def _written(text: str, state: State) -> tuple[list[Fact], State]:
    """A text block came into the transcript: say what its display has not said already."""
    state = replace(state, last_text=text)
    if not state.streamed:
        said, state = _say(text, state)
        return said, replace(state, covered=state.covered + text)
    if state.streamed.startswith(text):
        return [], replace(state, streamed=state.streamed[len(text) :])
    if text.startswith(state.streamed):
        rest = text[len(state.streamed) :]
        return ([Said(text=rest)] if rest else []), replace(state, streamed="", covered=rest)
    return _say(text, replace(state, streamed="", covered=""))


def displayed(payload: Fields, state: State) -> Told:
    """A MessageDisplay payload: whole lines of an answer while it is still being written."""
    delta = payload.text("delta")
    if not state.running or not delta or payload.text("prompt_id") != state.prompt:
        return [], state
    index, fresh = payload.whole("index"), payload.text("message_id") != state.showing
    if index != (0 if fresh else state.piece):
        # Hooks may overtake one another: leave the rest of this message to the transcript.
        return [], replace(state, showing=payload.text("message_id"), piece=-1)
    state = replace(state, showing=payload.text("message_id"), piece=index + 1)
    if state.covered.startswith(delta):
        return [], replace(state, covered=state.covered[len(delta) :])
    if state.covered:
        return [], replace(state, piece=-1)
    said: list[Fact] = [Said(text=delta)]
    if fresh:
        said, state = _say(delta, state)
    heard = [Heard(fact=fact, turn=state.turn or None) for fact in said]
    return heard, replace(state, streamed=state.streamed + delta)


def _used(message: Fields, state: State) -> tuple[list[Fact], State]:
    """Every block of a message repeats its usage: it counts once."""
    usage, name = message.fields("usage"), message.text("id")
    if not usage or not name or name == state.counted:
        return [], state
    read = usage.whole("input_tokens") + usage.whole("cache_read_input_tokens")
    total = Usage(
        input_tokens=state.usage.input_tokens + read + usage.whole("cache_creation_input_tokens"),
        output_tokens=state.usage.output_tokens + usage.whole("output_tokens"),
    )
    return [Used(usage=total)], replace(state, usage=total, counted=name)


# --- turns and the CLI's own lines


def _system(record: Fields, state: State) -> Told:
    subtype = record.text("subtype")
    if subtype == "turn_duration":
        return end_turn(state, state.written or state.prompt, HowEnded.COMPLETED)
    if subtype == "compact_boundary":
        return _heard([Noted(text="The conversation was compacted to make room.")], state), state
    if subtype == "api_error":
        return [], state
    if subtype == "local_command":
        return _wrapped(record, record.text("content"), state)
    if subtype in SILENT_SYSTEM:
        return [], state
    return [], replace(state, skipped=state.skipped + 1)


def end_turn(state: State, prompt: str, how: HowEnded, error: str = "") -> Told:
    """The end of the turn, told once for each prompt."""
    if not state.running or prompt in state.over:
        return [], state
    if prompt != state.prompt and state.prompts.get(prompt) != state.turn:
        return [], state
    usage = state.usage if state.usage != Usage() else None
    expected = tuple(one for one in state.expected if one.turn != state.turn or not one.turn)
    over = (*state.over, *dict.fromkeys((prompt, state.prompt)))[-REMEMBERED:]
    done = replace(state, running=False, command=False, over=over, covered="", stopped="", expected=expected)
    return [Heard(fact=TurnEnded(how=how, error=error, usage=usage), turn=state.turn or None)], done


def before_end(ended: list[Heard], limited: Limited | None) -> list[Heard]:
    """The end of a turn with the limit that was its reason; no word of a limit whose turn's end was told already."""
    if limited is None or not ended:
        return ended
    return [Heard(fact=limited, turn=ended[0].turn), *ended]


def session_changed(session: str, state: State) -> Told:
    """The agent's conversation has another id now (it began, or was cleared)."""
    if not session or session == state.session:
        return [], state
    ended, over = end_turn(state, state.prompt, HowEnded.COMPLETED)
    fresh = State(session=session, expected=over.expected, skipped=state.skipped)
    return [*ended, Heard(fact=SessionKnown(session=session))], fresh
