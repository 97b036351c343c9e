"""How full a conversation without a terminal is: the file of its session tells, for the CLI's protocols do not."""

from __future__ import annotations

import os
from pathlib import Path

from farhand.disk.plain_files import open_plain
from farhand.drivers.gemini.schema import context_window, usage_of
from farhand.drivers.gemini.sessions import find_file
from farhand.drivers.wires.foreign_json import parse
from farhand.model.facts import SessionKnown, Used
from farhand.model.ports import Heard
from farhand.model.words import replace

TAIL_BYTES = 256 * 1024


class GeminiContext:
    """One worker's conversation: what it tells of a turn is amended by how full it is then."""

    def __init__(self, session: str, home: Path) -> None:
        self._session = session
        self._home = home

    def counted(self, heard: tuple[Heard, ...]) -> tuple[Heard, ...]:
        """The same, with the tokens of the conversation and how many it may have, where it says what a turn used."""
        return tuple(self._counted(one) for one in heard)

    def _counted(self, heard: Heard) -> Heard:
        fact = heard.fact
        if isinstance(fact, SessionKnown):
            self._session = fact.session
        if not isinstance(fact, Used) or not self._session:
            return heard
        tokens, window = last_context(self._session, self._home)
        usage = replace(fact.usage, context_tokens=tokens, context_window=window)
        return replace(heard, fact=replace(fact, usage=usage))


def last_context(session: str, home: Path) -> tuple[int, int]:
    """The tokens of the model's last call in that session, and how many its model can hold; 0 where nobody says."""
    path = find_file(session, home)
    for line in reversed(_tail(path).split(b"\n") if path else []):
        record = parse(line)
        usage = usage_of(record) if record is not None else None
        if record is not None and usage is not None:
            return usage.input_tokens + usage.output_tokens, context_window(record.text("model"))
    return 0, 0


def _tail(path: Path) -> bytes:
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except OSError:
        return b""
