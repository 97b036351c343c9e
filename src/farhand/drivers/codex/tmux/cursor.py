"""Where a terminal's link stands: what the journal keeps as its cursor, and what its folder keeps beside it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

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
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_name(f".{self._path.name}.new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(began))
        fresh.replace(self._path)

    def read(self) -> CodexStart:
        """What was written; nothing when there is none."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=CodexStart)
        except (OSError, msgspec.MsgspecError):
            return CodexStart()
