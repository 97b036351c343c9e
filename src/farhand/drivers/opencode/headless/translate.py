"""Turns OpenCode's events, and a session as it stands, into facts. Pure: no clock, no files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from farhand.drivers.opencode import asks, titles
from farhand.drivers.opencode.headless.state import (
    OpenCodeState,
    PartProgress,
    between_turns,
    expected_message,
    with_whole_part,
    without_request,
)
from farhand.drivers.opencode.limits import limit, retry_limit, usage_after
from farhand.drivers.opencode.schema import (
    IGNORED_EVENTS,
    DataKind,
    MessageInfo,
    MessageUpdated,
    OpenCodeError,
    OpenCodeEvent,
    OpenCodeMessage,
    OpenCodePart,
    OpenCodePermission,
    OpenCodeQuestions,
    PartDelta,
    PartUpdated,
    Replied,
    SessionCreated,
    SessionEvent,
    SessionFailed,
    StatusChanged,
    read,
    sentence,
)
from farhand.model.facts import Fact, Noted, Said, Seen, Thought, ToolEnded, ToolStarted, TurnEnded, TurnStarted, Used
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, Word, replace

# An event of our own: the session was looked at and does nothing.
FOUND_IDLE = "farhand.at_rest"
ABORTED = "MessageAbortedError"
UNFINISHED = "OpenCode stopped before the turn was over."


class Moment(Word):
    """When an event came, and how many seconds an ask of it waits."""

    at: float = 0.0
    deadline_seconds: float | None = None


# The facts of an event, and the state after it.
OpenCodeTranslation: TypeAlias = tuple[list[Fact], OpenCodeState]
NO_FACTS: Final[list[Fact]] = []


def translate(
    data: bytes, state: OpenCodeState, at: float = 0.0, deadline_seconds: float | None = None
) -> tuple[list[Heard], OpenCodeState]:
    """The facts of one event, which came at that time; asks wait that many seconds. What is unreadable is counted."""
    event = read(data, OpenCodeEvent)
    if event is None:
        return [], replace(state, skipped=state.skipped + 1)
    if event.type in IGNORED_EVENTS:
        return [], state
    handler = _HANDLERS.get(event.type)
    translation = (
        handler(event.properties, state, Moment(at=at, deadline_seconds=deadline_seconds)) if handler else None
    )
    if translation is None:
        return [], replace(state, skipped=state.skipped + 1)
    facts, after = translation
    if not facts:
        return [], after
    if after.typed and not isinstance(facts[0], TurnStarted):
        # Nobody will tell any more what was typed.
        facts, after = [TurnStarted(), *facts], replace(after, typed="")
    turn = after.turn or state.turn or None
    heard = [Heard(fact=fact, turn=turn) for fact in facts]
    return heard, between_turns(after) if isinstance(facts[-1], TurnEnded) else after


def translate_missed(
    message: OpenCodeMessage, state: OpenCodeState, at: float, deadline_seconds: float | None
) -> tuple[list[Heard], OpenCodeState]:
    """The facts of a message that was fetched; what was reported of it before is recognised and left out."""
    info = read(message.info, MessageInfo)
    if info is None:
        return [], state
    heard: list[Heard] = []
    joins = any(one.id == info.id and not one.turn for one in state.expected)
    begins_turn = info.role == "user" and state.running and info.id not in state.prompts and not joins
    ended = [encode_event(FOUND_IDLE, {"sessionID": state.session})] if begins_turn else []
    for one in (*ended, *events_of(message)):
        more, state = translate(one, state, at, deadline_seconds)
        heard += more
    for part in (read(raw, OpenCodePart) for raw in message.parts):
        if part is not None and part.id in state.parts:
            state = with_whole_part(state, part.id, part.type)
    return heard, state


def events_of(message: OpenCodeMessage) -> list[bytes]:
    """A message of a session as the events that it would have come with."""
    parts = [encode_event("message.part.updated", {"part": part}) for part in message.parts]
    return [encode_event("message.updated", {"info": message.info}), *parts]


def encode_event(kind: str, properties: object) -> bytes:
    """An event as it comes over the stream."""
    return msgspec.json.encode({"type": kind, "properties": properties})


# --- messages


def _message_updated(updated: MessageUpdated, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """A message began or changed: a person's, or the agent's."""
    info = updated.info
    if info.sessionID != state.session or info.id <= state.after:
        return NO_FACTS, state
    if info.id > state.newest:
        state = replace(state, newest=info.id)
    return _prompt(info, state) if info.role == "user" else _reply(info, state)


def _prompt(info: MessageInfo, state: OpenCodeState) -> OpenCodeTranslation:
    """A person's message is in the session: one that we delivered, or one from the terminal."""
    if info.id in state.prompts:
        return NO_FACTS, state
    expected = expected_message(state, info.id)
    if state.running:
        return NO_FACTS, replace(state, prompts=(*state.prompts, info.id))
    if expected and expected.turn:
        return NO_FACTS, replace(state, running=True, turn=expected.turn, prompts=(info.id,))
    # Its words come with its first part.
    return NO_FACTS, replace(state, running=True, turn=f"desk-{info.id}", prompts=(info.id,), typed=info.id)


def _reply(info: MessageInfo, state: OpenCodeState) -> OpenCodeTranslation:
    """The agent answers a message: it has read it."""
    if info.parentID not in state.prompts or not state.running:
        return NO_FACTS, state
    seen: list[Fact] = []
    expected = expected_message(state, info.parentID)
    if expected and info.parentID not in state.seen:
        seen = [Seen(message=expected.message)]
        state = replace(state, seen=(*state.seen, info.parentID))
    if info.summary is True and info.id not in state.summaries:
        state = replace(state, summaries=(*state.summaries, info.id))
    replies = {**state.replies, info.id: info.time.completed is not None}
    model = f"{info.providerID}/{info.modelID}" if info.modelID else state.model
    return seen, replace(state, replies=replies, model=model, error=info.error or state.error)


def _is_answer(message: str, state: OpenCodeState) -> bool:
    """The text of a summary that compacts the conversation is no answer."""
    return message in state.replies and message not in state.summaries


# --- parts of messages


def _part_updated(updated: PartUpdated, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """A part of the agent's message began, changed or ended."""
    part = updated.part
    if part.sessionID == state.session and part.messageID == state.typed and part.type == "text" and not part.synthetic:
        return [TurnStarted(text=part.text)], replace(state, typed="")
    if part.sessionID != state.session or not _is_answer(part.messageID, state):
        return NO_FACTS, state
    match part.type:
        case "text" | "reasoning":
            return _text(part, state)
        case "tool":
            return _tool(part, state)
        case "step-finish" if part.tokens and part.id not in state.tools:
            usage = usage_after(state.usage, part)
            return [Used(usage=usage)], replace(state, usage=usage, tools={**state.tools, part.id: True})
        case _:
            return NO_FACTS, state


def _text(part: OpenCodePart, state: OpenCodeState) -> OpenCodeTranslation:
    known = state.parts.get(part.id) or PartProgress(kind=part.type)
    over = part.time is not None and part.time.end is not None
    if not over:
        return NO_FACTS, state if part.id in state.parts else _with_part(state, part.id, known)
    whole = replace(known, reported=len(part.text), whole=True)
    return _spoken(part.text[known.reported :], known, _with_part(state, part.id, whole))


def _part_grew(grown: PartDelta, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """A part of the agent's message has some more text."""
    known = state.parts.get(grown.partID)
    if known is None or known.whole or grown.field != "text" or not grown.delta:
        return NO_FACTS, state
    if not _is_answer(grown.messageID, state):
        return NO_FACTS, state
    longer = replace(known, reported=known.reported + len(grown.delta))
    return _spoken(grown.delta, known, _with_part(state, grown.partID, longer))


def _with_part(state: OpenCodeState, part: str, known: PartProgress) -> OpenCodeState:
    return replace(state, parts={**state.parts, part: known})


def _spoken(text: str, known: PartProgress, state: OpenCodeState) -> OpenCodeTranslation:
    """New text of a part of which some was reported before."""
    if not text:
        return NO_FACTS, state
    if known.kind == "reasoning":
        return [Thought(text=text)], state
    gap = "\n\n" if state.spoke and not known.reported else ""
    return [Said(text=gap + text)], replace(state, spoke=True)


def _tool(part: OpenCodePart, state: OpenCodeState) -> OpenCodeTranslation:
    facts: list[Fact] = []
    call, status = part.callID or part.id, part.state.status
    if status not in ("running", "completed", "error"):
        return NO_FACTS, state
    if call not in state.tools:
        facts = [ToolStarted(call=call, tool=part.tool, title=titles.title(part.tool, part.state.input))]
        state = replace(state, tools={**state.tools, call: False})
    if status != "running" and not state.tools[call]:
        facts = [*facts, ToolEnded(call=call, ok=status == "completed", output=part.state.result)]
        state = replace(state, tools={**state.tools, call: True})
    return facts, state


# --- requests to a person


def _permission_asked(wanted: OpenCodePermission, state: OpenCodeState, moment: Moment) -> OpenCodeTranslation:
    """A tool asks for permission."""
    if not _is_own(wanted.sessionID, state) or wanted.id in state.permissions:
        return NO_FACTS, state
    state = replace(state, permissions={**state.permissions, wanted.id: wanted})
    return list(asks.raised(wanted, moment.deadline_seconds)), state


def _question_asked(asked: OpenCodeQuestions, state: OpenCodeState, moment: Moment) -> OpenCodeTranslation:
    """The agent wants to know something."""
    if not _is_own(asked.sessionID, state) or asked.id in state.questions or not asked.questions:
        return NO_FACTS, state
    state = replace(state, questions={**state.questions, asked.id: asked})
    return list(asks.raised(asked, moment.deadline_seconds)), state


def _request_over(replied: Replied, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """Somebody answered in the terminal, unless the request was taken off the state when we did."""
    request = state.permissions.get(replied.requestID) or state.questions.get(replied.requestID)
    if request is None:
        return NO_FACTS, state
    return list(asks.settled_at_desk(request, replied)), without_request(state, request.id)


def _is_own(session: str, state: OpenCodeState) -> bool:
    return bool(session) and (session == state.session or session in state.children)


# --- the session's status, and the end of a turn


def _status_changed(changed: StatusChanged, state: OpenCodeState, moment: Moment) -> OpenCodeTranslation:
    """A session works, waits to retry, or is idle."""
    if changed.sessionID != state.session:
        return NO_FACTS, state
    if changed.status.type == "idle":
        return _idle(state)
    limited = changed.status.type == "retry" and not state.limited
    found = retry_limit(changed.status, moment.at) if limited else None
    return ([found], replace(state, limited=found.text or "limit")) if found else (NO_FACTS, state)


def _went_idle(named: SessionEvent, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    return _idle(state) if named.sessionID == state.session else (NO_FACTS, state)


def _idle(state: OpenCodeState) -> OpenCodeTranslation:
    """The end, unless a reply is still open or none has begun: an old turn's idle event comes late."""
    over = all(state.replies.values()) and (state.replies or state.error is not None)
    return _ended(state, state.error) if state.running and over else (NO_FACTS, state)


def _found_idle(named: SessionEvent, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """The session was looked at and does nothing: whatever is open is over."""
    if named.sessionID != state.session or not state.running:
        return NO_FACTS, state
    unfinished = any(not done for done in state.replies.values()) or not state.replies
    return _ended(state, state.error or (OpenCodeError(name=UNFINISHED) if unfinished else None))


def _ended(state: OpenCodeState, error: OpenCodeError | None) -> OpenCodeTranslation:
    how, why = HowEnded.COMPLETED, ""
    if error is not None:
        # Waiting for a limit is given up by us, not by a person.
        aborted = error.name == ABORTED and (state.stopped or not state.limited)
        failed = state.limited if error.name == ABORTED else sentence(error)
        how, why = (HowEnded.INTERRUPTED, "") if aborted else (HowEnded.FAILED, failed)
    elif state.stopped:
        how = HowEnded.INTERRUPTED
    elif state.limited:
        how, why = HowEnded.FAILED, state.limited
    unfinished: list[Fact] = [
        ToolEnded(call=call, ok=False, output="The turn ended before the tool did.")
        for call, done in state.tools.items()
        if not done
    ]
    usage = state.usage if state.usage != Usage() else None
    return [*unfinished, TurnEnded(how=how, error=why, usage=usage)], state


def _session_failed(failure: SessionFailed, state: OpenCodeState, moment: Moment) -> OpenCodeTranslation:
    """Something went wrong; the turn ends when the session is idle."""
    if failure.sessionID != state.session:
        return NO_FACTS, state
    if not state.running:
        return _refused(failure.error, state)
    found = limit(failure.error, moment.at) if not state.limited else None
    state = replace(state, error=failure.error, limited=state.limited or (found.text if found else ""))
    return ([found] if found else NO_FACTS), state


def _refused(error: OpenCodeError, state: OpenCodeState) -> OpenCodeTranslation:
    """A message that the session refused is never seen in it; an error that comes after a turn says nothing new."""
    refused = next((one for one in state.expected if one.turn and one.id > state.after), None)
    if refused is None:
        return NO_FACTS, state
    return _ended(replace(state, turn=refused.turn, prompts=(refused.id,)), error)


def _session_compacted(named: SessionEvent, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    if named.sessionID != state.session:
        return NO_FACTS, state
    return [Noted(text="The conversation was compacted to make room.")], state


def _session_created(created: SessionCreated, state: OpenCodeState, _moment: Moment) -> OpenCodeTranslation:
    """A session began; that of a subagent is remembered."""
    if created.info.parentID not in (state.session, *state.children):
        return NO_FACTS, state
    return NO_FACTS, replace(state, children=(*state.children, created.info.id))


# --- which event is read as what

_Handler: TypeAlias = Callable[[msgspec.Raw, OpenCodeState, Moment], OpenCodeTranslation | None]


def _reads(kind: type[DataKind], handle: Callable[[DataKind, OpenCodeState, Moment], OpenCodeTranslation]) -> _Handler:
    """A handler that gives None for properties that cannot be read."""

    def handler(properties: msgspec.Raw, state: OpenCodeState, moment: Moment) -> OpenCodeTranslation | None:
        found = read(properties, kind)
        return None if found is None else handle(found, state, moment)

    return handler


_HANDLERS: Final[dict[str, _Handler]] = {
    "message.part.delta": _reads(PartDelta, _part_grew),
    "message.part.updated": _reads(PartUpdated, _part_updated),
    "message.updated": _reads(MessageUpdated, _message_updated),
    "session.status": _reads(StatusChanged, _status_changed),
    "session.idle": _reads(SessionEvent, _went_idle),
    "session.error": _reads(SessionFailed, _session_failed),
    "session.compacted": _reads(SessionEvent, _session_compacted),
    "session.created": _reads(SessionCreated, _session_created),
    "permission.asked": _reads(OpenCodePermission, _permission_asked),
    "permission.replied": _reads(Replied, _request_over),
    "question.asked": _reads(OpenCodeQuestions, _question_asked),
    "question.replied": _reads(Replied, _request_over),
    "question.rejected": _reads(Replied, _request_over),
    FOUND_IDLE: _reads(SessionEvent, _found_idle),
}
