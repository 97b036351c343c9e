"""Translates the records of a Gemini CLI session file into facts. Pure: no clock, no files."""

from __future__ import annotations

from hashlib import sha256

from farhand.drivers.gemini.limits import limit
from farhand.drivers.gemini.schema import (
    OVER,
    context_window,
    digest,
    is_context,
    response_text,
    responses,
    result_text,
    usage_of,
    words,
)
from farhand.drivers.gemini.titles import detail, title
from farhand.drivers.gemini.tmux.state import (
    REMEMBERED,
    GeminiLastMessage,
    GeminiState,
    GeminiToolState,
    GeminiTranslated,
    began,
    end_turn,
    heard,
    prompted,
    session_changed,
    skip,
    with_tool,
)
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.facts import (
    Fact,
    Limited,
    Noted,
    Said,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Used,
)
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, replace

LONGEST_OUTPUT = 4000
CANCELLED = "Request cancelled."
# Every second line says nothing but what time it was.
TOUCHED = b'{"$set":{"lastUpdated":"2026-11-15T19:15:02.898Z"}}'
TOUCHED_LENGTH, TOUCHED_HEAD, TOUCHED_TAIL = len(TOUCHED), TOUCHED[:24], TOUCHED[-4:]
# After a refusal the CLI writes its whole history once more, under new ids and within a moment.
REPLAY_SECONDS = 1.0


def translate(line: bytes, state: GeminiState, at: float = 0.0) -> GeminiTranslated:
    """The facts of one line of a session file, which was read at that time."""
    if len(line) == TOUCHED_LENGTH and line.startswith(TOUCHED_HEAD) and line.endswith(TOUCHED_TAIL):
        return [], state
    record = parse(line)
    return skip(state) if record is None else translate_record(record, state, at)


def translate_record(record: Fields, state: GeminiState, at: float = 0.0) -> GeminiTranslated:
    """The facts of one record: a message, a change of what was written, or the opening of a session."""
    if record.text("id"):
        return translate_message(record, state, at)
    if record.text("$rewindTo"):
        return _rewound(state)
    if isinstance(record.any("$set"), dict):
        return _changed(record.fields("$set"), state, at)
    if record.text("sessionId"):
        return session_changed(record.text("sessionId"), replace(state, replays=0.0))
    return skip(state)


def _rewound(state: GeminiState) -> GeminiTranslated:
    found = heard([Noted(text="The conversation was taken back to an earlier point.")], state) if state.known else []
    return found, replace(state, last=GeminiLastMessage())


def _changed(change: Fields, state: GeminiState, at: float) -> GeminiTranslated:
    """A checkpoint repeats the past; only what stands behind the newest known message is news."""
    found, state = session_changed(change.text("sessionId"), state)
    if not isinstance(change.any("messages"), list):
        return found, state
    replaying, messages = bool(state.replays), change.list("messages")
    state = replace(state, replays=0.0)
    ids = [message.text("id") for message in messages]
    places = [place for place, name in enumerate(ids) if name in state.known]
    fresh = messages[places[-1] + 1 :] if places and not replaying else []
    for message in fresh:
        more, state = translate_message(message, state, at)
        found += more
    # What it repeats is known from now on: a replay gave all of it new names.
    return found, replace(state, known=tuple(dict.fromkeys([*state.known, *ids]))[-REMEMBERED:])


# --- messages


def translate_message(message: Fields, state: GeminiState, at: float = 0.0) -> GeminiTranslated:
    """The facts of one message; of one that is written again, what is new in it."""
    kind, name = message.text("type"), message.text("id")
    if not name:
        return skip(state)
    if state.replays and message.written_at() - state.replays <= REPLAY_SECONDS:
        return [], _remember(name, state, state.replays)
    if kind == "user" and is_context(message.any("content")):
        return [], _remember(name, state, message.written_at())
    again = name in state.known and name != state.last.id
    state = _remember(name, state)
    if again:
        return [], state
    match kind:
        case "user":
            return _user(message, state)
        case "gemini":
            return _gemini(message, state)
        case "error":
            return _error(message, state, message.written_at() or at)
        case "warning":
            return heard([Noted(text=words(message.any("content")))], state), state
        case "info":
            cancelled = words(message.any("content")).strip() == CANCELLED
            return end_turn(state, HowEnded.INTERRUPTED) if cancelled else ([], state)
        case _:
            return skip(state)


def _remember(name: str, state: GeminiState, replays: float = 0.0) -> GeminiState:
    if name not in state.known:
        return replace(state, known=(*state.known, name)[-REMEMBERED:], replays=replays)
    return state if state.replays == replays else replace(state, replays=replays)


def _user(message: Fields, state: GeminiState) -> GeminiTranslated:
    content = message.any("content")
    results = responses(content)
    if results:
        return _results(results, state)
    text = words(content)
    if not text.strip():
        return [], state
    return prompted(text, message.written_at(), state, hook=False)


def _gemini(message: Fields, state: GeminiState) -> GeminiTranslated:
    name, text = message.text("id"), words(message.any("content"))
    last = state.last if state.last.id == name else GeminiLastMessage(id=name)
    begun, state = _resumed(message, last, state)
    facts = _thoughts(message, last)
    said, spoke = _text(text, last, spoke=state.spoke)
    used, usage = _used(message, last, state.usage)
    count = max(last.thoughts, len(message.list("thoughts")))
    counted = last.counted or bool(used)
    newest = GeminiLastMessage(id=name, length=len(text), mark=_mark(text), thoughts=count, counted=counted)
    state = replace(state, last=newest, spoke=spoke, usage=usage)
    found = heard([*facts, *said], state)
    for call in message.list("toolCalls"):
        more, state = _call(call, state)
        found += heard(more, state)
    return [*begun, *found, *heard(used, state)], state


def _resumed(message: Fields, last: GeminiLastMessage, state: GeminiState) -> GeminiTranslated:
    """The agent speaks though no turn runs: something at the desk made it, unless these are late words."""
    if state.running or last.id == state.last.id:
        return [], state
    when = message.written_at()
    if 0.0 < when <= state.over:
        return [], state
    turn = f"desk-{state.session[:8]}-{state.turns + 1}"
    return [Heard(fact=TurnStarted(), turn=turn)], began(state, turn, "", when)


def _thoughts(message: Fields, last: GeminiLastMessage) -> list[Fact]:
    fresh = message.list("thoughts")[last.thoughts :]
    texts = [": ".join(filter(None, (one.text("subject"), one.text("description")))) for one in fresh]
    return [Thought(text=text) for text in texts if text]


def _text(text: str, last: GeminiLastMessage, *, spoke: bool) -> tuple[list[Fact], bool]:
    """What is new in the text of a message; one that says something else than before says nothing new."""
    if len(text) <= last.length or (last.length and _mark(text[: last.length]) != last.mark):
        return [], spoke
    gap = "\n\n" if spoke and not last.length else ""
    fresh = text[last.length :]
    said: list[Fact] = [Said(text=gap + fresh)] if fresh.strip() else []
    return said, spoke or bool(said)


def _mark(text: str) -> str:
    return text and sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _used(message: Fields, last: GeminiLastMessage, total: Usage) -> tuple[list[Fact], Usage]:
    usage = usage_of(message)
    if usage is None or last.counted:
        return [], total
    added = Usage(
        input_tokens=total.input_tokens + usage.input_tokens,
        output_tokens=total.output_tokens + usage.output_tokens,
        context_tokens=usage.input_tokens + usage.output_tokens,
        context_window=context_window(message.text("model")),
    )
    return [Used(usage=added)], added


# --- tools


def _call(call: Fields, state: GeminiState) -> tuple[list[Fact], GeminiState]:
    """A call in the file, which a hook may have told of before."""
    name, arguments, filed = call.text("name"), call.any("args"), call.text("id")
    same = digest(name, arguments)
    found = next((one for one in state.tools if one.filed == filed and one.digest == same), None)
    found = found or next((one for one in state.tools if not one.filed and one.digest == same), None)
    facts: list[Fact] = []
    if found is None:
        found = GeminiToolState(call=filed or f"call-{state.turns}-{len(state.tools)}", digest=same)
        facts.append(started(found.call, name, Fields(arguments)))
    if call.text("status") in OVER and not found.over:
        ok, output = call.text("status") == "success", result_text(call)
        facts.append(ToolEnded(call=found.call, ok=ok, output=output[:LONGEST_OUTPUT]))
        return facts, with_tool(replace(found, filed=filed, over=True), state)
    return facts, with_tool(replace(found, filed=filed), state)


def started(call: str, tool: str, arguments: Fields) -> ToolStarted:
    """A tool call with its human title."""
    whole = detail(tool, arguments)[:LONGEST_OUTPUT]
    return ToolStarted(call=call, tool=tool, title=title(tool, arguments), detail=whole)


def _results(results: list[Fields], state: GeminiState) -> GeminiTranslated:
    """Results as the model gets them: the file has told of each already, with its call."""
    facts: list[Fact] = []
    for result in results:
        found = next((one for one in state.tools if one.filed == result.text("id") and not one.over), None)
        if found is not None:
            output = response_text(result)[:LONGEST_OUTPUT]
            facts.append(ToolEnded(call=found.call, ok=not result.fields("response").text("error"), output=output))
            state = with_tool(replace(found, over=True), state)
    return heard(facts, state), state


# --- ends


def _error(message: Fields, state: GeminiState, at: float) -> GeminiTranslated:
    text = words(message.any("content")) or "The model could not be reached."
    limited = limit(text, at)
    if not state.running:
        return heard([limited or Noted(text=text)], state), state
    ended, over = end_turn(state, HowEnded.FAILED, text)
    return before_end(ended, limited), over


def before_end(ended: list[Heard], limited: Limited | None) -> list[Heard]:
    """The end of a turn with the limit that was its reason."""
    return ended if limited is None or not ended else [Heard(fact=limited, turn=ended[0].turn), *ended]
