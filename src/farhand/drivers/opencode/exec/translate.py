"""Turns the lines of `opencode run --format json` into facts. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.opencode import titles
from farhand.drivers.opencode.exec.state import OpenCodeRunState
from farhand.drivers.opencode.limits import limit, usage_after
from farhand.drivers.opencode.schema import OpenCodeError, OpenCodePart, RunLine, read, sentence
from farhand.model.facts import (
    Fact,
    Limited,
    Said,
    Seen,
    SessionKnown,
    Thought,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Used,
)
from farhand.model.words import HowEnded, Usage, replace

# The error of a tool call that was not allowed; it ends the run.
REJECTED = "The user rejected permission"
NOBODY_ASKED = "{title}: leave was needed, and one command a turn cannot ask for it. Nothing was allowed."


def translate_line(line: bytes, state: OpenCodeRunState) -> tuple[list[Fact], OpenCodeRunState]:
    """The facts of one line."""
    read_line = read(line, RunLine)
    if read_line is None:
        return [], replace(state, skipped=state.skipped + 1)
    facts: list[Fact] = []
    if read_line.sessionID and read_line.sessionID != state.session:
        facts, state = [SessionKnown(session=read_line.sessionID)], replace(state, session=read_line.sessionID)
    if not state.seen and read_line.type != "error":
        facts = [*facts, Seen(message=state.message)] if state.message else facts
        state = replace(state, seen=True)
    if read_line.type == "error":
        return facts, replace(state, error=read_line.error or OpenCodeError())
    more, state = _part(read_line, state)
    return facts + more, state


def _part(line: RunLine, state: OpenCodeRunState) -> tuple[list[Fact], OpenCodeRunState]:
    part = read(line.part, OpenCodePart)
    if part is None:
        return [], replace(state, skipped=state.skipped + 1)
    match line.type:
        case "text":
            return _text(part, state)
        case "reasoning":
            return ([Thought(text=part.text)] if part.text else []), state
        case "tool_use":
            return _tool(part, state)
        case "step_finish":
            return _finished(part, state)
        case "step_start":
            return [], replace(state, refused="")
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _text(part: OpenCodePart, state: OpenCodeRunState) -> tuple[list[Fact], OpenCodeRunState]:
    gap = "\n\n" if state.spoke else ""
    return ([Said(text=gap + part.text)] if part.text else []), replace(state, spoke=state.spoke or bool(part.text))


def _tool(part: OpenCodePart, state: OpenCodeRunState) -> tuple[list[Fact], OpenCodeRunState]:
    call, done = part.callID or part.id, part.state
    title = titles.title(part.tool, done.input)
    output = done.result
    rejected = done.status == "error" and output.startswith(REJECTED)
    facts: list[Fact] = [
        ToolStarted(call=call, tool=part.tool, title=title),
        ToolEnded(call=call, ok=done.status == "completed", output=output),
    ]
    return facts, replace(state, refused=title) if rejected else state


def _finished(part: OpenCodePart, state: OpenCodeRunState) -> tuple[list[Fact], OpenCodeRunState]:
    usage = usage_after(state.usage, part)
    return ([Used(usage=usage)] if part.tokens else []), replace(state, usage=usage)


def ended(state: OpenCodeRunState, how: HowEnded, why: str, at: float) -> list[Fact]:
    """How the run ended, when its process has."""
    error = state.error
    if how is HowEnded.COMPLETED and error is not None:
        how, why = HowEnded.FAILED, sentence(error)
    elif how is HowEnded.COMPLETED and state.refused:
        how, why = HowEnded.FAILED, NOBODY_ASKED.format(title=state.refused)
    elif how is HowEnded.FAILED and error is not None:
        why = sentence(error)
    found: Limited | None = limit(error, at) if error is not None and how is HowEnded.FAILED else None
    over = TurnEnded(how=how, error=why, usage=state.usage if state.usage != Usage() else None)
    return [*([found] if found else []), over]
