"""The runs of one worker, a process a turn: a write-ahead log, and the cursor of their reader."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.opencode.schema import OpenCodeError
from farhand.model.words import Usage, Word

# So many runs can be read again; older ones were reported long ago.
MOST_RUNS = 8


class OpenCodeRun(Word):
    """One turn: the name of its holder, and which message it is for."""

    holder: str
    turn: str
    message: str


class OpenCodeRunState(Word):
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


class OpenCodeRunCursor(Word):
    """How far a link has read: so many bytes of a run, or, with `over`, all of it and its end."""

    run: OpenCodeRun | None = None
    offset: int = 0
    over: bool = False
    state: OpenCodeRunState = OpenCodeRunState()


class OpenCodeRunLog:
    """Write-ahead log in the worker's folder: the newest runs, their messages, and which are to stop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "runs"

    def all(self) -> list[OpenCodeRun]:
        """The newest of them, in order."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[OpenCodeRun])
        except (OSError, msgspec.MsgspecError):
            return []

    def of_turn(self, turn: str) -> OpenCodeRun | None:
        """The run of that turn, if it is among them."""
        return next((one for one in self.all() if one.turn == turn), None)

    def after(self, run: OpenCodeRun | None) -> OpenCodeRun | None:
        """The run after that one; the first there is for None, or for one that is too old."""
        runs = self.all()
        names = [one.holder for one in runs]
        start = names.index(run.holder) + 1 if run and run.holder in names else 0
        return runs[start] if start < len(runs) else None

    def add(self, run: OpenCodeRun, text: str) -> list[OpenCodeRun]:
        """Writes a run and its message down; gives those that are too old now."""
        write_private(self.message_file(run), text.encode(errors="surrogateescape"))
        every = [*self.all(), run]
        write_private(self._file, msgspec.json.encode(every[-MOST_RUNS:]))
        return every[:-MOST_RUNS]

    def message_file(self, run: OpenCodeRun) -> Path:
        """The file that a run reads its message from."""
        return self._folder / f"{run.holder}.txt"

    def add_stop(self, run: OpenCodeRun) -> None:
        """Called before a run is stopped for a person."""
        write_private(self._folder / f"{run.holder}.stop", b"")

    def is_stopped(self, run: OpenCodeRun) -> bool:
        """Whether a person wanted it to stop."""
        return (self._folder / f"{run.holder}.stop").exists()
