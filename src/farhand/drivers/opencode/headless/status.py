"""How a session stands, as facts: at rest, waiting for a limit, failed, and so the end of a turn. Pure."""

from __future__ import annotations

from farhand.drivers.opencode.headless.state import NOTHING, Moment, OpenCodeState, Told
from farhand.drivers.opencode.limits import limit, waiting
from farhand.drivers.opencode.schema import (
    OpenCodeError,
    OpenCodeNamed,
    SessionCreated,
    SessionFailed,
    StatusChanged,
    sentence,
)
from farhand.model.facts import Fact, Noted, ToolEnded, TurnEnded
from farhand.model.words import HowEnded, Usage, replace

ABORTED = "MessageAbortedError"
UNFINISHED = "OpenCode stopped before the turn was over."


def status_changed(changed: StatusChanged, state: OpenCodeState, moment: Moment) -> Told:
    """A session works, waits to try again, or rests."""
    if changed.sessionID != state.session:
        return NOTHING, state
    if changed.status.type == "idle":
        return _idle(state)
    found = waiting(changed.status, moment.at) if changed.status.type == "retry" and not state.limited else None
    return ([found], replace(state, limited=found.text or "limit")) if found else (NOTHING, state)


def went_idle(named: OpenCodeNamed, state: OpenCodeState, _moment: Moment) -> Told:
    """A session rests."""
    return _idle(state) if named.sessionID == state.session else (NOTHING, state)


def _idle(state: OpenCodeState) -> Told:
    """The end, unless a reply is still open or none has begun: an old turn's idleness comes late."""
    over = all(state.replies.values()) and (state.replies or state.error is not None)
    return _ended(state, state.error) if state.running and over else (NOTHING, state)


def found_at_rest(named: OpenCodeNamed, state: OpenCodeState, _moment: Moment) -> Told:
    """The session was looked at and does nothing: whatever is open is over."""
    if named.sessionID != state.session or not state.running:
        return NOTHING, state
    open_replies = any(not done for done in state.replies.values())
    return _ended(state, state.error or (OpenCodeError(name=UNFINISHED) if open_replies or not state.replies else None))


def _ended(state: OpenCodeState, error: OpenCodeError | None) -> Told:
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


def session_failed(failure: SessionFailed, state: OpenCodeState, moment: Moment) -> Told:
    """Something went wrong; the turn ends when the session rests."""
    if failure.sessionID != state.session:
        return NOTHING, state
    if not state.running:
        return _never_begun(failure.error, state)
    found = limit(failure.error, moment.at) if not state.limited else None
    state = replace(state, error=failure.error, limited=state.limited or (found.text if found else ""))
    return ([found] if found else NOTHING), state


def _never_begun(error: OpenCodeError, state: OpenCodeState) -> Told:
    """A message that the session refused is never seen in it; an error that comes after a turn says nothing new."""
    given = next((one for one in state.expected if one.turn and one.id > state.after), None)
    if given is None:
        return NOTHING, state
    return _ended(replace(state, turn=given.turn, prompts=(given.id,)), error)


def session_compacted(named: OpenCodeNamed, state: OpenCodeState, _moment: Moment) -> Told:
    """The session was made shorter."""
    if named.sessionID != state.session:
        return NOTHING, state
    return [Noted(text="The conversation was compacted to make room.")], state


def session_created(created: SessionCreated, state: OpenCodeState, _moment: Moment) -> Told:
    """A session began; that of a helper is remembered."""
    if created.info.parentID not in (state.session, *state.children):
        return NOTHING, state
    return NOTHING, replace(state, children=(*state.children, created.info.id))
