"""What a person typed in the terminal conversation of a node: the last lines, for the arrow up of the next time."""

from pathlib import Path
from typing import Protocol

import msgspec

from farhand.cli.line_editor import REMEMBERED
from farhand.disk.atomic import write_private

LINES_FILE = "chat_lines.json"
# A line that is longer is for once.
LONGEST_LINE = 10_000
# More than all of them can take is no file of ours.
MOST_BYTES = 8 * REMEMBERED * LONGEST_LINE


class KeepsLines(Protocol):
    """Knows what was typed before."""

    def read(self) -> tuple[str, ...]:
        """The lines, the last one last."""
        ...

    def keep(self, lines: tuple[str, ...]) -> None:
        """These are the last ones now."""
        ...


class NoLines:
    """Nothing is kept."""

    def read(self) -> tuple[str, ...]:
        """None."""
        return ()

    def keep(self, lines: tuple[str, ...]) -> None:
        """They are forgotten."""


class TypedLines:
    """The lines in a file of the node's folder that its owner alone can read. One that cannot be read is empty."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / LINES_FILE

    def read(self) -> tuple[str, ...]:
        """The lines, the last one last."""
        try:
            with self._file.open("rb") as file:
                found = msgspec.json.decode(file.read(MOST_BYTES), type=list[str])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return ()
        return _kept(found)

    def keep(self, lines: tuple[str, ...]) -> None:
        """These are the last ones now."""
        try:
            write_private(self._file, msgspec.json.encode(_kept(lines)))
        except (OSError, UnicodeEncodeError):
            return


def _kept(lines: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line for line in lines if len(line) <= LONGEST_LINE)[-REMEMBERED:]
