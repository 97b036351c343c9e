"""Answers to parts of a questionnaire, written down as they come: the agent gets all of them, whoever dies between."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from farhand.model.words import AskId, Word

MOST = 500


class Picked(Word):
    """What a person chose, and the word of advice with it."""

    choice: str
    note: str = ""
    expired: bool = False


class Given(Word):
    """One answer and the ask it belongs to."""

    ask: AskId
    picked: Picked


class Picks:
    """A file of answers beside the agent's own files; it goes with the worker."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, ask: AskId, picked: Picked) -> None:
        """Writes one down. It is on the disk before anybody says that it was taken."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A line that a kill cut off ends here, so that it costs nobody but itself.
            os.write(descriptor, b"\n" + msgspec.json.encode(Given(ask=ask, picked=picked)) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def all(self) -> dict[AskId, Picked]:
        """The answers by their asks; an answer that was written twice is there once."""
        try:
            lines = [line for line in self._path.read_bytes().splitlines() if line][-MOST:]
        except OSError:
            return {}
        found: dict[AskId, Picked] = {}
        for line in lines:
            try:
                one = msgspec.json.decode(line, type=Given)
            except msgspec.MsgspecError:
                continue
            found[one.ask] = one.picked
        return found
