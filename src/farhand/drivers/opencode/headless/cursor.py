"""Where a link stands, and what its worker was told to be: changed by what comes, and by what is asked of it."""

from __future__ import annotations

from typing import Any

import msgspec

from farhand.drivers.opencode.headless.state import OpenCodeState
from farhand.drivers.opencode.tmux.desk import Elsewhere
from farhand.model.words import Mode, Word, replace


class OpenCodeCursor(Word):
    """What a cursor says: the life of the process, and what was told of the session."""

    life: str = ""
    state: OpenCodeState = OpenCodeState()
    # Where somebody at the desk went on, while the worker's turn was not over.
    elsewhere: Elsewhere | None = None


class OpenCodeTuning(msgspec.Struct):
    """What a worker was last told to be; it goes with every prompt."""

    mode: Mode
    model: str
    # The agent that the session worked with last.
    agent: str = ""


class OpenCodePosition:
    """One link's spot and tuning, shared by those who work on it."""

    def __init__(self, spot: OpenCodeCursor, tuning: OpenCodeTuning) -> None:
        self.spot = spot
        self.tuning = tuning

    @property
    def state(self) -> OpenCodeState:
        """What was told of the session."""
        return self.spot.state

    def become(self, state: OpenCodeState) -> None:
        """Something more was told."""
        self.spot = replace(self.spot, state=state)

    def change(self, **changes: Any) -> None:
        """Some fields of the state are different now."""
        self.become(replace(self.state, **changes))

    def cursor(self) -> str:
        """The spot as it is written down."""
        return msgspec.json.encode(self.spot).decode()
