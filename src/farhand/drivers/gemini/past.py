"""The past of a conversation of the Gemini CLI, in either format of its files, for somebody who has not taken it up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from farhand.disk.plain_files import read_plain
from farhand.drivers.gemini.sessions import find_file
from farhand.drivers.gemini.tmux.session_file import WHOLE
from farhand.drivers.gemini.tmux.state import GeminiState
from farhand.drivers.gemini.tmux.translate import translate, translate_message
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.past import PastRecord, past_of_file, past_page
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.words import Seq

LARGEST_FILE = 64 * 1024 * 1024


def read_past(home: Path, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
    """A page of its turns; of a file in one piece an entry's number is that of its message."""
    path = find_file(session.id, home)
    if path is None:
        return HistoryPage()
    state, running = GeminiState(session=session.id), bool(session.open)
    if path.suffix != WHOLE:
        return past_of_file(path, before, limit, state, translate, running=running)
    records = _messages(path, before, state)
    return past_page(records, limit, begins=True, running=running and before is None)


def _messages(path: Path, before: Seq | None, state: GeminiState) -> Iterator[PastRecord]:
    try:
        data = read_plain(path, LARGEST_FILE)
        whole = Fields(msgspec.json.decode(data))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    for number, message in enumerate(whole.list("messages"), start=1):
        if before is not None and number >= before:
            return
        heard, state = translate_message(message, state)
        yield number, message.written_at(), heard
