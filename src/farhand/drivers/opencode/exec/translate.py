"""Turns the lines of `opencode run --format json` into facts. Pure: no clock, no files."""

from __future__ import annotations

from farhand.drivers.opencode import titles
from farhand.drivers.opencode.headless.state import LONGEST_OUTPUT
from farhand.drivers.opencode.limits import limit, spent
from farhand.drivers.opencode.schema import OpenCodeError, Part, RunLine, read, sentence
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
from farhand.model.words import HowEnded, Usage, Word, replace

# How OpenCode words it that a tool call was not allowed; in a run that ends it.
REJECTED = "The user rejected permission"
NOBODY_ASKED = "{title}: leave was needed, and one command a turn cannot ask for it. Nothing was allowed."


class RunState(Word):
    """What the translation remembers between the lines of one run."""

    session: str = ""
    message: str = ""
    seen: bool = False
    spoke: bool = False
    error: OpenCodeError | None = None
    # The call that was not allowed, while nothing came after it.
    refused: str = ""
    usage: Usage = Usage()
    skipped: int = 0


def translate_line(line: bytes, state: RunState) -> tuple[list[Fact], RunState]:
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
    told, state = _part(read_line, state)
    return facts + told, state


def _part(line: RunLine, state: RunState) -> tuple[list[Fact], RunState]:
    part = read(line.part, Part)
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


def _text(part: Part, state: RunState) -> tuple[list[Fact], RunState]:
    gap = "\n\n" if state.spoke else ""
    return ([Said(text=gap + part.text)] if part.text else []), replace(state, spoke=state.spoke or bool(part.text))


def _tool(part: Part, state: RunState) -> tuple[list[Fact], RunState]:
    call, done = part.callID or part.id, part.state
    title = titles.title(part.tool, done.input)
    output = (done.error if done.status == "error" else done.output)[:LONGEST_OUTPUT]
    rejected = done.status == "error" and output.startswith(REJECTED)
    facts: list[Fact] = [
        ToolStarted(call=call, tool=part.tool, title=title),
        ToolEnded(call=call, ok=done.status == "completed", output=output),
    ]
    return facts, replace(state, refused=title) if rejected else state


def _finished(part: Part, state: RunState) -> tuple[list[Fact], RunState]:
    usage = spent(state.usage, part)
    return ([Used(usage=usage)] if part.tokens else []), replace(state, usage=usage)


def ended(state: RunState, how: HowEnded, why: str, at: float) -> list[Fact]:
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
