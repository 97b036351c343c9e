"""Append-only log of answers to the parts of a questionnaire: the agent gets all of them, whoever dies between."""

from __future__ import annotations

from pathlib import Path

from farhand.disk.jsonl import JsonlFile
from farhand.model.words import AskId, Word


class PartAnswer(Word):
    """What a person chose, and the word of advice with it."""

    choice: str
    note: str = ""
    expired: bool = False


class StoredAnswer(Word):
    """One answer and the ask it belongs to."""

    ask: AskId
    picked: PartAnswer


class PartAnswers:
    """A file of answers beside the agent's own files; it goes with the worker."""

    def __init__(self, path: Path) -> None:
        self._file = JsonlFile(path, StoredAnswer)

    def add(self, ask: AskId, picked: PartAnswer) -> None:
        """Appends one; it is on the disk before anybody says that it was taken."""
        self._file.add(StoredAnswer(ask=ask, picked=picked), sync=True)

    def all(self) -> dict[AskId, PartAnswer]:
        """The answers by their asks, deduplicated."""
        return {one.ask: one.picked for one in self._file.all()}
