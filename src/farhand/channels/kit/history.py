"""What was said to a worker and what it answered, out of its past. Pure."""

from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.provenance import is_by_pipe, shown_text, writer
from farhand.model.words import HowEnded, Sender, Word


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
        said="\n".join(one.text if one is first else shown_text(one.text, one.by) for one in entry.messages)
        or view.typed,
        who=_who(first.by) if first else "",
        via=first.by.via if first else "desk" if view.typed else "",
        answered=view.text or (view.ended.error if view.ended else ""),
        how=view.ended.how if view.ended else None,
    )


def _who(by: Sender) -> str:
    return writer(by) if is_by_pipe(by) else by.who
