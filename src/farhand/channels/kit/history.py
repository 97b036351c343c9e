"""What was said to a worker and what it answered, out of its past. Pure."""

from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.words import HowEnded, Word


class Exchange(Word):
    """One message and its answer; a turn that began at the desk has no message."""

    worker: str
    said: str = ""
    who: str = ""
    via: str = ""
    answered: str = ""
    # None while the turn runs.
    how: HowEnded | None = None


def exchanges(page: HistoryPage) -> list[Exchange]:
    """The turns of a page, the one that runs last."""
    turns = [entry for entry in page.entries if isinstance(entry, TurnEntry)]
    return [_exchange(entry) for entry in (*turns, *((page.open,) if page.open else ()))]


def _exchange(entry: TurnEntry) -> Exchange:
    view = entry.view
    first = entry.messages[0] if entry.messages else None
    return Exchange(
        worker=view.worker,
        said="\n".join(one.text for one in entry.messages) or view.typed,
        who=first.by.who if first else "",
        via=first.by.via if first else "desk" if view.typed else "",
        answered=view.text or (view.ended.error if view.ended else ""),
        how=view.ended.how if view.ended else None,
    )
