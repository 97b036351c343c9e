"""The past of a session of OpenCode, from its own database, for somebody who has not taken it up."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from farhand.drivers.opencode.schema import OpenCodeData, OpenCodeError, ToolState, read, sentence
from farhand.drivers.opencode.titles import title
from farhand.drivers.wires.past import PastRecord, past_page
from farhand.model.facts import Fact, Said, Thought, ToolEnded, ToolStarted, TurnEnded, TurnStarted
from farhand.model.history import HistoryPage
from farhand.model.ports import Heard, SessionFound
from farhand.model.words import HowEnded, Seq

MOST_MESSAGES = 2000
ABORTED = "MessageAbortedError"
# The newest messages before a time, which is their number: when they were created, in milliseconds.
_MESSAGES = """SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created < ?
    ORDER BY time_created DESC, id DESC LIMIT ?"""
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


class PastMessage(OpenCodeData, frozen=True):
    """What is stored of a message."""

    role: str = ""
    error: OpenCodeError | None = None


class PastPart(OpenCodeData, frozen=True):
    """What is stored of a part of a message."""

    type: str = ""
    text: str = ""
    synthetic: bool = False
    tool: str = ""
    callID: str = ""  # noqa: N815
    state: ToolState = ToolState()


@contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, to be read alone; raises sqlite3.Error for what is none."""
    # SQLite would wait for whoever writes to a pipe in its place.
    if not path.is_file():
        raise sqlite3.OperationalError(f"{path} is no plain file.")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0)) as opened:
        yield opened


def read_past(path: Path, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
    """A page of its turns; none where the database is missing, or of another kind."""
    try:
        with opened_database(path) as opened:
            newest = 2**62 if before is None else before
            rows = opened.execute(_MESSAGES, (session.id, newest, MOST_MESSAGES)).fetchall()
            records = list(_records(opened, reversed(rows)))
    except sqlite3.Error:
        return HistoryPage()
    running = bool(session.open) and before is None
    return past_page(records, limit, begins=len(rows) < MOST_MESSAGES, running=running)


def _records(opened: sqlite3.Connection, rows: Iterator[tuple[str, int, str]]) -> Iterator[PastRecord]:
    turn = ""
    for name, created, data in rows:
        message = read(data.encode(), PastMessage)
        if message is None:
            continue
        parts = [read(str(row[0]).encode(), PastPart) for row in opened.execute(_PARTS, (name,))]
        known = [part for part in parts if part is not None]
        if message.role == "user":
            turn = f"desk-{name}"
        facts = _asked(known) if message.role == "user" else _answered(message, known)
        yield int(created), created / 1000, [Heard(fact=fact, turn=turn or None) for fact in facts]


def _asked(parts: list[PastPart]) -> list[Fact]:
    text = "\n".join(part.text for part in parts if part.type == "text" and not part.synthetic)
    return [TurnStarted(text=text)] if text.strip() else []


def _answered(message: PastMessage, parts: list[PastPart]) -> list[Fact]:
    facts = [fact for part in parts for fact in _facts(part)]
    if message.error is None:
        return facts
    stopped = message.error.name == ABORTED
    how = HowEnded.INTERRUPTED if stopped else HowEnded.FAILED
    return [*facts, TurnEnded(how=how, error="" if stopped else sentence(message.error))]


def _facts(part: PastPart) -> list[Fact]:
    match part.type:
        case "text" if part.text and not part.synthetic:
            return [Said(text=part.text)]
        case "reasoning" if part.text:
            return [Thought(text=part.text)]
        case "tool":
            call, state = part.callID, part.state
            started = ToolStarted(call=call, tool=part.tool, title=title(part.tool, state.input))
            over = state.status in ("completed", "error")
            ended = ToolEnded(call=call, ok=state.status == "completed", output=state.result)
            return [started, ended] if over else [started]
        case _:
            return []
