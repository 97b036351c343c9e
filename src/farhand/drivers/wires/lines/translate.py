"""Translates the lines of the line protocol into facts, and errands into lines. Pure: no clock, no files."""

import json
import mimetypes
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeAlias, assert_never

from farhand.drivers.wires.lines import schema
from farhand.model import facts
from farhand.model.facts import Fact
from farhand.model.ports import Change, Deliver, Errand, Heard, Settle, Stop
from farhand.model.words import Attachment, TurnId, Usage

SHOWN_BYTES = 200
# The key, which is the same however often an errand comes, and the line.
KeyedLine: TypeAlias = tuple[str, bytes]


def translate(line: bytes) -> tuple[Heard, ...]:
    """The facts of one line. One that cannot be read costs that line, and becomes a note."""
    try:
        read = schema.read(line)
    except schema.LineUnreadable as problem:
        shown = line[:SHOWN_BYTES].decode(errors="replace")
        return (Heard(fact=facts.Noted(text=f"The agent wrote a line that makes no sense ({problem}): {shown}")),)
    if read is None or read == schema.LineSession(session=""):
        return ()
    turn, fact = _fact(read)
    return (Heard(fact=fact, turn=turn or None),)


def with_limit(heard: tuple[Heard, ...], find: Callable[[str], facts.Limited | None]) -> tuple[Heard, ...]:
    """The same facts; before the end of a turn whose error is a usage limit comes the limit."""
    ended = heard[-1].fact if heard else None
    found = find(ended.error) if isinstance(ended, facts.TurnEnded) and ended.error else None
    return (*heard[:-1], Heard(fact=found, turn=heard[-1].turn), heard[-1]) if found else heard


def _fact(line: schema.Line) -> tuple[TurnId, Fact]:
    match line:
        case schema.LineSession(session=session):
            return "", facts.SessionKnown(session=session)
        case schema.LineStarted(started=turn):
            return turn, facts.Seen(message=turn)
        case schema.LineText(text=turn, piece=piece):
            return turn, facts.Said(text=piece)
        case schema.LineThinking(thought=turn, piece=piece):
            return turn, facts.Thought(text=piece)
        case schema.LineTool(tool=turn):
            return turn, _tool(line)
        case schema.LineAsk(ask=turn):
            return turn, _raised(line)
        case schema.LineImage(image=turn):
            return turn, facts.Showed(file=_attachment(line))
        case schema.LineUsage(usage=turn):
            return turn, facts.Used(usage=Usage(input_tokens=line.input, output_tokens=line.output))
        case schema.LineEnded(ended=turn, how=how, error=error):
            return turn, facts.TurnEnded(how=how, error=error)
        case schema.LineProblem(problem=turn, text=text):
            return turn, facts.Noted(text=text)
        case _:
            assert_never(line)


def _raised(line: schema.LineAsk) -> Fact:
    return facts.AskRaised(
        ask=line.ask_id,
        question=line.question,
        choices=line.choices,
        about=line.about,
        detail=line.detail,
        action=line.action,
        where=line.where,
        why=line.why,
        digest=line.digest,
        several=line.several,
    )


def _tool(line: schema.LineTool) -> Fact:
    if line.status == "started":
        return facts.ToolStarted(call=line.call, tool=line.name, title=line.title, detail=line.output)
    return facts.ToolEnded(call=line.call, ok=line.status == "done", output=line.output)


def _attachment(line: schema.LineImage) -> Attachment:
    media_type, _ = mimetypes.guess_type(line.path)
    return Attachment(path=line.path, name=PurePath(line.path).name, media_type=media_type or "", caption=line.caption)


def change_line(change: Change, key: str) -> KeyedLine:
    """The line that changes the model, the mode or the effort of an agent that can."""
    wanted = {"model": change.model, "mode": change.mode, "effort": change.effort}
    given = {name: value for name, value in wanted.items() if value is not None}
    return f"change {key}", _line({"change": "", **given})


def to_line(errand: Errand) -> KeyedLine | None:
    """The line of an errand, or None when it is not possible."""
    match errand:
        case Deliver(joins=True) | Change():
            return None
        case Deliver(turn=turn, message=message):
            files = [one.path for one in message.attachments]
            return f"prompt {turn}", _line({"prompt": turn, "text": message.text, "files": files})
        case Settle(ask=ask):
            choice = ask.settled.choice if ask.settled else ""
            note = ask.settled.note if ask.settled else ""
            return f"answer {ask.id}", _line({"answer": ask.id, "choice": choice, "note": note})
        case Stop(turn=turn, number=number):
            return f"interrupt {number} {turn}", _line({"interrupt": turn})
        case _:
            assert_never(errand)


def _line(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode() + b"\n"
