"""A session's messages and their parts as facts: what is said, thought and done. Pure."""

from __future__ import annotations

from farhand.drivers.opencode import titles
from farhand.drivers.opencode.headless.state import LONGEST_OUTPUT, NOTHING, Moment, OpenCodeState, Telling, Told, ours
from farhand.drivers.opencode.limits import spent
from farhand.drivers.opencode.schema import Info, MessageUpdated, Part, PartDelta, PartUpdated
from farhand.model.facts import Fact, Said, Seen, Thought, ToolEnded, ToolStarted, TurnStarted, Used
from farhand.model.words import replace


def message_updated(updated: MessageUpdated, state: OpenCodeState, _moment: Moment) -> Told:
    """A message began or changed: a person's, or the agent's."""
    info = updated.info
    if info.sessionID != state.session or info.id <= state.after:
        return NOTHING, state
    if info.id > state.newest:
        state = replace(state, newest=info.id)
    if info.role == "user":
        return _prompt(info, state)
    return _reply(info, state)


def _prompt(info: Info, state: OpenCodeState) -> Told:
    """A person's message is in the session: one of ours, or one from the desk."""
    if info.id in state.prompts:
        return NOTHING, state
    given = ours(state, info.id)
    if state.running:
        return NOTHING, replace(state, prompts=(*state.prompts, info.id))
    turn = given.turn if given and given.turn else f"desk-{info.id}"
    state = replace(state, running=True, turn=turn, prompts=(info.id,))
    return ([] if given and given.turn else [TurnStarted()]), state


def _reply(info: Info, state: OpenCodeState) -> Told:
    """The agent answers a message: it has read it."""
    if info.parentID not in state.prompts or not state.running:
        return NOTHING, state
    seen: list[Fact] = []
    given = ours(state, info.parentID)
    if given and info.parentID not in state.seen:
        seen = [Seen(message=given.message)]
        state = replace(state, seen=(*state.seen, info.parentID))
    if info.summary is True and info.id not in state.summaries:
        state = replace(state, summaries=(*state.summaries, info.id))
    replies = {**state.replies, info.id: info.time.completed is not None}
    return seen, replace(state, replies=replies, error=info.error or state.error)


def _is_told(message: str, state: OpenCodeState) -> bool:
    """The words of a summary that makes room are no answer."""
    return message in state.replies and message not in state.summaries


# --- parts


def part_updated(updated: PartUpdated, state: OpenCodeState, _moment: Moment) -> Told:
    """A part of the agent's message began, changed or ended."""
    part = updated.part
    if part.sessionID != state.session or not _is_told(part.messageID, state):
        return NOTHING, state
    match part.type:
        case "text" | "reasoning":
            return _words(part, state)
        case "tool":
            return _tool(part, state)
        case "step-finish" if part.tokens and part.id not in state.tools:
            return _finished(part, state)
        case _:
            return NOTHING, state


def _words(part: Part, state: OpenCodeState) -> Told:
    known = state.parts.get(part.id) or Telling(kind=part.type)
    over = part.time is not None and part.time.end is not None
    if not over:
        return NOTHING, state if part.id in state.parts else _with_part(state, part.id, known)
    whole = replace(known, told=len(part.text), whole=True)
    return _spoken(part.text[known.told :], known, _with_part(state, part.id, whole))


def part_grew(grown: PartDelta, state: OpenCodeState, _moment: Moment) -> Told:
    """A part of the agent's message has some more words."""
    known = state.parts.get(grown.partID)
    if known is None or known.whole or grown.field != "text" or not grown.delta:
        return NOTHING, state
    if not _is_told(grown.messageID, state):
        return NOTHING, state
    longer = replace(known, told=known.told + len(grown.delta))
    return _spoken(grown.delta, known, _with_part(state, grown.partID, longer))


def _with_part(state: OpenCodeState, part: str, known: Telling) -> OpenCodeState:
    return replace(state, parts={**state.parts, part: known})


def _spoken(text: str, known: Telling, state: OpenCodeState) -> Told:
    """Words of a part of which some were told before."""
    if not text:
        return NOTHING, state
    if known.kind == "reasoning":
        return [Thought(text=text)], state
    gap = "\n\n" if state.spoke and not known.told else ""
    return [Said(text=gap + text)], replace(state, spoke=True)


def _tool(part: Part, state: OpenCodeState) -> Told:
    facts: list[Fact] = []
    call, status = part.callID or part.id, part.state.status
    if status not in ("running", "completed", "error"):
        return NOTHING, state
    if call not in state.tools:
        facts = [ToolStarted(call=call, tool=part.tool, title=titles.title(part.tool, part.state.input))]
        state = replace(state, tools={**state.tools, call: False})
    if status != "running" and not state.tools[call]:
        output = (part.state.error if status == "error" else part.state.output)[:LONGEST_OUTPUT]
        facts = [*facts, ToolEnded(call=call, ok=status == "completed", output=output)]
        state = replace(state, tools={**state.tools, call: True})
    return facts, state


def _finished(part: Part, state: OpenCodeState) -> Told:
    usage = spent(state.usage, part)
    return [Used(usage=usage)], replace(state, usage=usage, tools={**state.tools, part.id: True})
