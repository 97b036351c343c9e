"""Write-ahead log of the messages typed to an agent: it matches a prompt to its turn when the cursor was lost."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from farhand.disk.jsonl import JsonlFile
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.drivers.wires.tmux.screen import as_shown
from farhand.model.present import Worker
from farhand.model.words import Word

# The log's name in the worker's folder. Agents outlive an upgrade: it stays.
DELIVERED = "handed"
MOST_EXPECTED = 8


class ExpectedMessage(Word):
    """A message that was delivered and not yet seen: the beginning of its turn, or a word into a running one."""

    message: str
    text: str
    turn: str = ""


def squeezed(text: str) -> str:
    """A prompt as it is compared: the CLI trims it, line ends may change, and what nobody sees may be gone."""
    return " ".join(as_shown(text).split())


def with_turn_of(
    worker: Worker, expected: tuple[ExpectedMessage, ...], begun: Collection[str]
) -> tuple[ExpectedMessage, ...]:
    """A message that was on its way when the node died is recognised when it turns up, unless its turn has begun."""
    turn = worker.turn
    if turn is None or turn.message is None or turn.id in begun:
        return expected
    if any(one.message == turn.message.id for one in expected):
        return expected
    return (*expected, ExpectedMessage(message=turn.message.id, text=prompt_text(turn.message), turn=turn.id))


class DeliveredLog:
    """Append-only JSONL in the worker's folder; it goes with the worker."""

    def __init__(self, path: Path) -> None:
        self._file = JsonlFile(path, ExpectedMessage)

    def add(self, one: ExpectedMessage) -> None:
        """Appends a message that is about to be typed."""
        self._file.add(one)

    def drop(self, one: ExpectedMessage) -> None:
        """It was not delivered after all."""
        self.add(ExpectedMessage(message=one.message, text=""))

    def all(self) -> tuple[ExpectedMessage, ...]:
        """Those that were delivered, each once, the newest of them."""
        found = {one.message: one for one in self._file.all()}
        return tuple(one for one in found.values() if one.text)
