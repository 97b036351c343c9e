"""Turns OpenCode's events into facts. Pure: no clock, no files. A session's messages are told as events, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from farhand.drivers.opencode import asks, titles
from farhand.drivers.opencode.limits import limit, spent, waiting
from farhand.drivers.opencode.schema import (
    Error,
    Event,
    Info,
    Message,
    MessageUpdated,
    Named,
    Part,
    PartDelta,
    PartUpdated,
    Permission,
    Questions,
    Replied,
    SessionCreated,
    SessionFailed,
    StatusChanged,
    read,
    sentence,
)
from farhand.drivers.wires.asking import DENY, SESSION, step_id
from farhand.model.facts import (
    AskSettled,
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
from farhand.model.words import HowEnded, HowSettled, Usage, Word, replace

LONGEST_OUTPUT = 20_000
ABORTED = "MessageAbortedError"
# Events that say nothing about a turn.
SILENT = frozenset(
    """server.connected server.heartbeat server.instance.disposed session.updated session.diff session.deleted
    message.removed message.part.removed plugin.added catalog.updated reference.updated integration.updated
    todo.updated file.edited file.watcher.updated lsp.updated lsp.client.diagnostics mcp.tools.changed
    vcs.branch.updated command.executed installation.updated installation.update-available project.updated
    tui.prompt.append
    tui.command.execute tui.toast.show tui.session.select pty.created pty.updated pty.exited pty.deleted
    global.disposed storage.write ide.installed""".split()
)
# An event of our own: the session was looked at and does nothing.
AT_REST = "farhand.at_rest"
MOST_EXPECTED = 500
UNFINISHED = "OpenCode stopped before the turn was over."


class Expected(Word):
    """A message that was given to the session under an id of ours: whose it is, and of which turn."""

    id: str
    message: str
    turn: str = ""


class Telling(Word):
    """How much of a part was told. `whole`: it was met half done, and only its end says what is new."""

    kind: str
    told: int = 0
    whole: bool = False


class State(Word):
    """What the translation remembers between events; it travels in the wire's cursor."""

    session: str = ""
    # The sessions of helpers that the agent started: their requests are its own.
    children: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()
    # Messages up to this one were told whole. OpenCode's ids rise with time.
    after: str = ""
    newest: str = ""
    running: bool = False
    turn: str = ""
    # The messages of persons in this turn, and the agent's: whether each is complete.
    prompts: tuple[str, ...] = ()
    replies: dict[str, bool] = {}
    parts: dict[str, Telling] = {}
    tools: dict[str, bool] = {}
    spoke: bool = False
    error: Error | None = None
    # Somebody wants the turn to stop.
    stopped: bool = False
    usage: Usage = Usage()
    # The limit that this turn has met, in its own words.
    limited: str = ""
    # Requests that wait, as they came.
    permissions: dict[str, Permission] = {}
    # What was allowed for the session: a turn that runs does not see the session's new rules.
    granted: tuple[tuple[str, str], ...] = ()
    questions: dict[str, Questions] = {}
    skipped: int = 0


Told: TypeAlias = tuple[list[Fact], State]
_NONE: list[Fact] = []


def translate(data: bytes, state: State, at: float = 0.0, seconds: float | None = None) -> tuple[list[Heard], State]:
    """The facts of one event, which came at that time; asks wait that many seconds."""
    event = read(data, Event)
    if event is None:
        return [], replace(state, skipped=state.skipped + 1)
    handler = _KINDS.get(event.type)
    if handler is None:
        return [], state if event.type in SILENT else replace(state, skipped=state.skipped + 1)
    kind, tell = handler
    found = read(event.properties, kind)
    if found is None:
        return [], replace(state, skipped=state.skipped + 1)
    before = state.turn
    facts, state = tell(found, state, at, seconds)
    if not facts:
        return [], state
    turn = state.turn or before or None
    heard = [Heard(fact=fact, turn=turn) for fact in facts]
    if isinstance(facts[-1], TurnEnded):
        state = _rested(state)
    return heard, state


def told_as_events(message: Message) -> list[bytes]:
    """A message of a session as the events that it would have come with."""
    parts = [event("message.part.updated", {"part": part}) for part in message.parts]
    return [event("message.updated", {"info": message.info}), *parts]


def event(kind: str, properties: Any) -> bytes:
    """An event as it comes over the stream."""
    return msgspec.json.encode({"type": kind, "properties": properties})


def whole_from(state: State, part: str, kind: str) -> State:
    """A part that was met half done: what was missed of it comes with its end."""
    known = state.parts.get(part) or Telling(kind=kind)
    return replace(state, parts={**state.parts, part: replace(known, whole=True)})


# --- messages


def _message(updated: MessageUpdated, state: State, _at: float, _seconds: float | None) -> Told:
    info = updated.info
    if info.sessionID != state.session or info.id <= state.after:
        return _NONE, state
    if info.id > state.newest:
        state = replace(state, newest=info.id)
    if info.role == "user":
        return _prompt(info, state)
    return _reply(info, state)


def _prompt(info: Info, state: State) -> Told:
    """A person's message is in the session: one of ours, or one from the desk."""
    if info.id in state.prompts:
        return _NONE, state
    ours = _ours(state, info.id)
    if state.running:
        return _NONE, replace(state, prompts=(*state.prompts, info.id))
    turn = ours.turn if ours and ours.turn else f"desk-{info.id}"
    state = replace(state, running=True, turn=turn, prompts=(info.id,))
    return ([] if ours and ours.turn else [TurnStarted()]), state


def _reply(info: Info, state: State) -> Told:
    """The agent answers a message: it has read it."""
    if info.parentID not in state.prompts or not state.running:
        return _NONE, state
    seen: list[Fact] = []
    ours = _ours(state, info.parentID)
    if ours and info.id not in state.replies and not _answered(state, info.parentID):
        seen = [Seen(message=ours.message)]
    parent = {f"parent {info.parentID}": True} if seen else {}
    # The words of a summary that makes room are no answer: its parts are not told.
    name = f"summary {info.id}" if info.summary is True else info.id
    replies = {**state.replies, **parent, name: info.time.completed is not None}
    return seen, replace(state, replies=replies, error=info.error or state.error)


def _answered(state: State, prompt: str) -> bool:
    return f"parent {prompt}" in state.replies


def _ours(state: State, message: str) -> Expected | None:
    return next((one for one in state.expected if one.id == message), None)


# --- parts


def _part(updated: PartUpdated, state: State, _at: float, _seconds: float | None) -> Told:
    part = updated.part
    if part.messageID not in state.replies or part.sessionID != state.session:
        return _NONE, state
    match part.type:
        case "text" | "reasoning":
            return _words(part, state)
        case "tool":
            return _tool(part, state)
        case "step-finish" if part.tokens and part.id not in state.tools:
            return _finished(part, state)
        case _:
            return _NONE, state


def _words(part: Part, state: State) -> Told:
    known = state.parts.get(part.id) or Telling(kind=part.type)
    over = part.time is not None and part.time.end is not None
    if not over:
        return _NONE, replace(state, parts={**state.parts, part.id: known}) if part.id not in state.parts else state
    facts = _fresh(part.text, known, state)
    state = replace(state, parts={**state.parts, part.id: replace(known, told=len(part.text), whole=True)})
    return facts, replace(state, spoke=True) if part.type == "text" and part.text else state


def _fresh(text: str, known: Telling, state: State) -> list[Fact]:
    rest = text[known.told :]
    if known.kind == "reasoning":
        return [Thought(text=rest)] if rest else []
    gap = "\n\n" if state.spoke and not known.told else ""
    return [Said(text=gap + rest)] if rest else []


def _delta(grown: PartDelta, state: State, _at: float, _seconds: float | None) -> Told:
    known = state.parts.get(grown.partID)
    if known is None or known.whole or grown.field != "text" or not grown.delta or grown.messageID not in state.replies:
        return _NONE, state
    told = msgspec.structs.replace(known, told=known.told + len(grown.delta))  # type: ignore[type-var]
    parts = {**state.parts, grown.partID: told}
    if known.kind == "reasoning":
        return [Thought(text=grown.delta)], replace(state, parts=parts)
    gap = "\n\n" if state.spoke and not known.told else ""
    return [Said(text=gap + grown.delta)], replace(state, parts=parts, spoke=True)


def _tool(part: Part, state: State) -> Told:
    facts: list[Fact] = []
    call, status = part.callID or part.id, part.state.status
    if status not in ("running", "completed", "error"):
        return _NONE, state
    if call not in state.tools:
        facts = [ToolStarted(call=call, tool=part.tool, title=titles.title(part.tool, part.state.input))]
        state = replace(state, tools={**state.tools, call: False})
    if status != "running" and not state.tools[call]:
        output = (part.state.error if status == "error" else part.state.output)[:LONGEST_OUTPUT]
        facts = [*facts, ToolEnded(call=call, ok=status == "completed", output=output)]
        state = replace(state, tools={**state.tools, call: True})
    return facts, state


def _finished(part: Part, state: State) -> Told:
    usage = spent(state.usage, part)
    return [Used(usage=usage)], replace(state, usage=usage, tools={**state.tools, part.id: True})


# --- how a session stands


def _status(changed: StatusChanged, state: State, at: float, _seconds: float | None) -> Told:
    if changed.sessionID != state.session:
        return _NONE, state
    if changed.status.type == "idle":
        return _idle(state)
    found = waiting(changed.status, at) if changed.status.type == "retry" and not state.limited else None
    return ([found], replace(state, limited=found.text or "limit")) if found else (_NONE, state)


def _idled(named: Named, state: State, _at: float, _seconds: float | None) -> Told:
    return _idle(state) if named.sessionID == state.session else (_NONE, state)


def _idle(state: State) -> Told:
    """The end, unless a reply is still open or none has begun: an old turn's idleness comes late."""
    replies = [done for name, done in state.replies.items() if not name.startswith("parent ")]
    over = all(replies) and (replies or state.error is not None)
    return _ended(state, state.error) if state.running and over else (_NONE, state)


def _rests(named: Named, state: State, _at: float, _seconds: float | None) -> Told:
    if named.sessionID != state.session or not state.running:
        return _NONE, state
    open_replies = any(not done for done in state.replies.values())
    return _ended(state, state.error or (Error(name=UNFINISHED) if open_replies or not state.replies else None))


def _ended(state: State, error: Error | None) -> Told:
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
    left: list[Fact] = [
        ToolEnded(call=call, ok=False, output="The turn ended before the tool did.")
        for call, done in state.tools.items()
        if not done
    ]
    usage = state.usage if state.usage != Usage() else None
    return [*left, TurnEnded(how=how, error=why, usage=usage)], state


def _rested(state: State) -> State:
    """Between turns: what was told is not told again."""
    return State(
        session=state.session,
        children=state.children[-8:],
        expected=tuple(one for one in state.expected if one.id not in state.prompts)[-MOST_EXPECTED:],
        after=state.newest,
        newest=state.newest,
        granted=state.granted,
        skipped=state.skipped,
    )


def _failed(failure: SessionFailed, state: State, at: float, _seconds: float | None) -> Told:
    if failure.sessionID != state.session:
        return _NONE, state
    if not state.running:
        return _never_begun(failure.error, state)
    found = limit(failure.error, at) if not state.limited else None
    state = replace(state, error=failure.error, limited=state.limited or (found.text if found else ""))
    return ([found] if found else _NONE), state


def _never_begun(error: Error, state: State) -> Told:
    """A message that the session refused is never seen in it; an error that comes after a turn says nothing new."""
    given = next((one for one in state.expected if one.turn and one.id > state.after), None)
    if given is None:
        return _NONE, state
    return _ended(replace(state, turn=given.turn, prompts=(given.id,)), error)


def _compacted(named: Named, state: State, _at: float, _seconds: float | None) -> Told:
    if named.sessionID != state.session:
        return _NONE, state
    return [Noted(text="The conversation was compacted to make room.")], state


def _created(created: SessionCreated, state: State, _at: float, _seconds: float | None) -> Told:
    if created.info.parentID not in (state.session, *state.children):
        return _NONE, state
    return _NONE, replace(state, children=(*state.children, created.info.id))


# --- requests


def _is_ours(session: str, state: State) -> bool:
    return bool(session) and (session == state.session or session in state.children)


def _permission(wanted: Permission, state: State, _at: float, seconds: float | None) -> Told:
    if not _is_ours(wanted.sessionID, state) or wanted.id in state.permissions:
        return _NONE, state
    state = replace(state, permissions={**state.permissions, wanted.id: wanted})
    return list(asks.raised(wanted, seconds)), state


def _question(asked: Questions, state: State, _at: float, seconds: float | None) -> Told:
    if not _is_ours(asked.sessionID, state) or asked.id in state.questions or not asked.questions:
        return _NONE, state
    state = replace(state, questions={**state.questions, asked.id: asked})
    return list(asks.raised(asked, seconds)), state


def _replied(replied: Replied, state: State, _at: float, _seconds: float | None) -> Told:
    """Somebody answered at the desk, unless the request was taken off the state when we did."""
    request = state.permissions.get(replied.requestID) or state.questions.get(replied.requestID)
    if request is None:
        return _NONE, state
    choice = {"once": asks.ONCE, "always": SESSION, "reject": DENY}.get(replied.reply, "")
    note = "; ".join(", ".join(one) for one in replied.answers)
    settled: list[Fact] = [
        AskSettled(ask=step_id(request.id, step), how=HowSettled.DESK, choice=choice, note=note)
        for step in range(asks.steps(request))
    ]
    return settled, without_request(state, request.id)


def without_request(state: State, request: str) -> State:
    """The request no longer waits."""
    return replace(
        state,
        permissions={name: one for name, one in state.permissions.items() if name != request},
        questions={name: one for name, one in state.questions.items() if name != request},
    )


_KINDS: dict[str, tuple[type[Any], Callable[[Any, State, float, float | None], Told]]] = {
    "message.part.delta": (PartDelta, _delta),
    "message.part.updated": (PartUpdated, _part),
    "message.updated": (MessageUpdated, _message),
    "session.status": (StatusChanged, _status),
    "session.idle": (Named, _idled),
    "session.error": (SessionFailed, _failed),
    "session.compacted": (Named, _compacted),
    "session.created": (SessionCreated, _created),
    "permission.asked": (Permission, _permission),
    "permission.replied": (Replied, _replied),
    "question.asked": (Questions, _question),
    "question.replied": (Replied, _replied),
    "question.rejected": (Replied, _replied),
    AT_REST: (Named, _rests),
}
