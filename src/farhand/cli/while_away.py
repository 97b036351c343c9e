"""What happened since a person last left the terminal conversation: where that was, and the lines that tell it."""

from pathlib import Path
from typing import Protocol

from farhand.channels.kit import overview
from farhand.channels.kit.history import exchanges
from farhand.disk.atomic import write_private
from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.ports import Hub
from farhand.model.present import Present
from farhand.model.words import Seq, replace

PLACE_FILE = "chat_place"
MOST_SHOWN = 8
PAGE = 30


class KeepsPlace(Protocol):
    """Knows up to which event a person has seen everything."""

    def read(self) -> Seq | None:
        """The number; None when nobody was here before."""
        ...

    def keep(self, seq: Seq) -> None:
        """Everything up to this one was shown."""
        ...


class ChatPlace:
    """The place in a small file of the node's folder. One that cannot be read or written is no place."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PLACE_FILE

    def read(self) -> Seq | None:
        """The number; None when nobody was here before."""
        try:
            return int(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def keep(self, seq: Seq) -> None:
        """Everything up to this one was shown."""
        try:
            write_private(self._file, str(seq))
        except OSError:
            return


async def missed_lines(hub: Hub, present: Present, since: Seq | None) -> str:
    """The turns that ended, or began and still run, after that event; empty when there are none."""
    if since is None or since >= present.seq:
        return ""
    pages = [newer(await hub.history(name, limit=PAGE), since) for name in present.workers]
    missed = sorted((entry for page in pages for entry in _turns(page)), key=lambda entry: entry.seq)
    if not missed:
        return ""
    left = f" ({len(missed) - MOST_SHOWN} more before these; /history <name>)" if len(missed) > MOST_SHOWN else ""
    shown = HistoryPage(entries=tuple(missed[-MOST_SHOWN:]))
    return f"While you were away{left}:\n{overview.history(exchanges(shown))}"


def newer(page: HistoryPage, since: Seq) -> HistoryPage:
    """The page without what was over at that event."""
    return replace(page, entries=tuple(entry for entry in page.entries if _last_event(entry) > since))


def _last_event(entry: object) -> Seq:
    return entry.view.seq if isinstance(entry, TurnEntry) else 0


def _turns(page: HistoryPage) -> list[TurnEntry]:
    turns = [entry for entry in page.entries if isinstance(entry, TurnEntry)]
    return [*turns, *([page.open] if page.open else [])]
