"""What a session asks of a person, and that it was answered at the desk, as facts. Pure."""

from __future__ import annotations

from farhand.drivers.opencode import asks
from farhand.drivers.opencode.headless.state import NOTHING, Moment, OpenCodeState, Told, without_request
from farhand.drivers.opencode.schema import OpenCodePermission, OpenCodeQuestions, Replied
from farhand.drivers.wires.asks.build import DENY, SESSION, step_id
from farhand.model.facts import AskSettled, Fact
from farhand.model.words import HowSettled, replace


def _is_ours(session: str, state: OpenCodeState) -> bool:
    return bool(session) and (session == state.session or session in state.children)


def leave_wanted(wanted: OpenCodePermission, state: OpenCodeState, moment: Moment) -> Told:
    """A tool wants leave."""
    if not _is_ours(wanted.sessionID, state) or wanted.id in state.permissions:
        return NOTHING, state
    state = replace(state, permissions={**state.permissions, wanted.id: wanted})
    return list(asks.raised(wanted, moment.seconds)), state


def question_asked(asked: OpenCodeQuestions, state: OpenCodeState, moment: Moment) -> Told:
    """The agent wants to know something."""
    if not _is_ours(asked.sessionID, state) or asked.id in state.questions or not asked.questions:
        return NOTHING, state
    state = replace(state, questions={**state.questions, asked.id: asked})
    return list(asks.raised(asked, moment.seconds)), state


def request_over(replied: Replied, state: OpenCodeState, _moment: Moment) -> Told:
    """Somebody answered at the desk, unless the request was taken off the state when we did."""
    request = state.permissions.get(replied.requestID) or state.questions.get(replied.requestID)
    if request is None:
        return NOTHING, state
    choice = {"once": asks.ONCE, "always": SESSION, "reject": DENY}.get(replied.reply, "")
    note = "; ".join(", ".join(one) for one in replied.answers)
    settled: list[Fact] = [
        AskSettled(ask=step_id(request.id, step), how=HowSettled.DESK, choice=choice, note=note)
        for step in range(asks.steps(request))
    ]
    return settled, without_request(state, request.id)
