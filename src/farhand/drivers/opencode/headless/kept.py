"""What is kept for a worker beside its cursor: its session, what it was given, and which requests were answered."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.disk.jsonl import JsonlFile
from farhand.drivers.opencode.headless.state import OpenCodeExpected
from farhand.model.facts import AskSettled
from farhand.model.words import Word


class OpenCodeStart(Word):
    """The worker's session, and the message after which it is the worker's own."""

    session: str
    after: str = ""


class OpenCodeLogLine(Word):
    """One thing that was written down before it was done."""

    given: OpenCodeExpected | None = None
    settled: AskSettled | None = None
    # A request that is about to be answered.
    request: str = ""


class OpenCodeLog:
    """A folder of one worker; it goes with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines = JsonlFile(folder / "given", OpenCodeLogLine)
        self._begun = folder / "session"

    def begun(self) -> OpenCodeStart | None:
        """The session, if it has begun."""
        try:
            return msgspec.json.decode(self._begun.read_bytes(), type=OpenCodeStart)
        except (OSError, msgspec.MsgspecError):
            return None

    def begin(self, begun: OpenCodeStart) -> None:
        """Writes the session down."""
        write_private(self._begun, msgspec.json.encode(begun))

    def given(self) -> tuple[OpenCodeExpected, ...]:
        """What the session was given, each once."""
        return tuple({one.given.message: one.given for one in self._lines.all() if one.given}.values())

    def give(self, one: OpenCodeExpected) -> None:
        """Before a message is given."""
        self._lines.add(OpenCodeLogLine(given=one))

    def settled(self) -> dict[str, AskSettled]:
        """The answers that persons gave to questions with several steps."""
        return {one.settled.ask: one.settled for one in self._lines.all() if one.settled}

    def settle(self, settled: AskSettled) -> None:
        """One step of a question is answered."""
        self._lines.add(OpenCodeLogLine(settled=settled))

    def answered(self, request: str) -> bool:
        """Whether we may have answered it before."""
        return any(one.request == request for one in self._lines.all())

    def answer(self, request: str) -> None:
        """Before a request is answered."""
        self._lines.add(OpenCodeLogLine(request=request))
