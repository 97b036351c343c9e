"""What was handed to an agent, written down before: a reader who lost its place still knows whose turn it is."""

from __future__ import annotations

from pathlib import Path

from farhand.disk.jsonl import JsonlFile
from farhand.model.words import Word


class ExpectedMessage(Word):
    """A message that was handed over and not yet seen: the beginning of its turn, or a word into a running one."""

    message: str
    text: str
    turn: str = ""


def squeezed(text: str) -> str:
    """A prompt as it is compared: the CLI trims it, and line ends may change."""
    return " ".join(text.split())


class DeliveredLog:
    """A file of messages beside the agent's own files; it goes with the worker."""

    def __init__(self, path: Path) -> None:
        self._slips = JsonlFile(path, ExpectedMessage)

    def add(self, one: ExpectedMessage) -> None:
        """Writes one down."""
        self._slips.add(one)

    def drop(self, one: ExpectedMessage) -> None:
        """It was not handed over after all."""
        self.add(ExpectedMessage(message=one.message, text=""))

    def all(self) -> tuple[ExpectedMessage, ...]:
        """Those that were handed over, each once, the newest of them."""
        found = {one.message: one for one in self._slips.all()}
        return tuple(one for one in found.values() if one.text)
