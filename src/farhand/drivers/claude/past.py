"""The past of a conversation of Claude Code, for somebody who has not taken it up."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.tmux.state import ClaudeState, Translated
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.past import past_of_file
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.words import Seq

# What Claude Code writes for its model where it has compacted a conversation: no person said it.
SUMMARY = b'"isCompactSummary":true'


async def read_past(places: ClaudePaths, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
    """A page of its turns."""
    return await anyio.to_thread.run_sync(_read, places, session, before, limit)


def _read(places: ClaudePaths, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
    state = ClaudeState(session=session.id)
    return past_of_file(_file(places, session), before, limit, state, _translate, running=bool(session.open))


def _file(places: ClaudePaths, session: SessionFound) -> Path:
    usual = places.transcript(session.directory, session.id)
    others = (folder / f"{session.id}.jsonl" for folder in (places.config / "projects").glob("*/"))
    return usual if usual.is_file() else next((path for path in others if path.is_file()), usual)


def _translate(line: bytes, state: ClaudeState, at: float) -> Translated:
    return ([], state) if SUMMARY in line else translate(line, state, at)
