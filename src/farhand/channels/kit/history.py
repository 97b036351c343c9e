"""What was said to a worker and what it answered, out of its past. Pure."""

from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.provenance import INTRODUCED_BY, NODES_OWN, is_by_pipe, shown_text, writer
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
    """The turns of a page, the one that runs last; a worker's introduction is nobody's talk."""
    turns = [entry for entry in page.entries if isinstance(entry, TurnEntry)]
    shown = (entry for entry in (*turns, *((page.open,) if page.open else ())) if not _introduces(entry))
    return [_exchange(entry) for entry in shown]


def _introduces(entry: TurnEntry) -> bool:
    return bool(entry.messages) and all(one.by.via == INTRODUCED_BY for one in entry.messages)


def _exchange(entry: TurnEntry) -> Exchange:
    view = entry.view
    first = entry.messages[0] if entry.messages else None
    return Exchange(
        worker=view.worker,
        said="\n".join(one.text if one is first else shown_text(one.text, one.by) for one in entry.messages)
        or view.typed,
        who=_who(first.by) if first else "",
        via=_via(first.by) if first else "desk" if view.typed else "",
        answered=view.text or (view.ended.error if view.ended else ""),
        how=view.ended.how if view.ended else None,
    )


def _who(by: Sender) -> str:
    if by.via in NODES_OWN:
        return "the node"
    return writer(by) if is_by_pipe(by) else by.who


def _via(by: Sender) -> str:
    return "" if by.via in NODES_OWN else by.via
