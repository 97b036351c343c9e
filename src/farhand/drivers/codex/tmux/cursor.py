"""Where a terminal's link stands: what the journal keeps as its cursor, and what its folder keeps beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.codex.tmux.translate import CodexRolloutState
from farhand.model.words import Word


class CodexCursor(Word):
    """The rollout that is followed, how far, and what its translation remembers."""

    path: str = ""
    offset: int = 0
    state: CodexRolloutState = CodexRolloutState()


class CodexStart(Word):
    """Which session an agent that lives has, and from where on its rollout is new."""

    session: str = ""
    path: str = ""
    offset: int = 0


class CodexStartFile:
    """A file beside the agent's own: a reader who lost its place still knows which session it was."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, began: CodexStart) -> None:
        """Writes it down, whole or not at all."""
        write_private(self._path, msgspec.json.encode(began))

    def read(self) -> CodexStart:
        """What was written; nothing when there is none."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=CodexStart)
        except (OSError, msgspec.MsgspecError):
            return CodexStart()
