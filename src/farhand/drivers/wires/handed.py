"""What was handed to an agent, written down before: a reader who lost its place still knows whose turn it is."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from farhand.model.words import Word

MOST = 500


class Expected(Word):
    """A message that was handed over and not yet seen: the beginning of its turn, or a word into a running one."""

    message: str
    text: str
    turn: str = ""


def squeezed(text: str) -> str:
    """A prompt as it is compared: the CLI trims it, and line ends may change."""
    return " ".join(text.split())


class Handed:
    """A file of messages beside the agent's own files; it goes with the worker."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, one: Expected) -> None:
        """Writes one down."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(one) + b"\n")
        finally:
            os.close(descriptor)

    def drop(self, one: Expected) -> None:
        """It was not handed over after all."""
        self.add(Expected(message=one.message, text=""))

    def all(self) -> tuple[Expected, ...]:
        """Those that were handed over, each once, the newest of them."""
        try:
            lines = self._path.read_bytes().splitlines()[-MOST:]
        except OSError:
            return ()
        found: dict[str, Expected] = {}
        for line in lines:
            try:
                one = msgspec.json.decode(line, type=Expected)
            except msgspec.MsgspecError:
                continue
            found[one.message] = one
        return tuple(one for one in found.values() if one.text)
