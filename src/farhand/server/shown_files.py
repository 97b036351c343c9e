"""Which files a conversation names: those that its agent named or showed, and those that were put into its inbox."""

import re
from collections.abc import Iterable, Iterator

from farhand.model import facts
from farhand.model.history import LONGEST_PAGE, FactEntry, HistoryEntry, TurnEntry
from farhand.model.ports import Hub
from farhand.model.present import Message, Worker
from farhand.model.wire import encode
from farhand.model.words import Attachment, Seq, replace

# How far back a file is looked for, in pages of the longest kind.
_PAGES_SEARCHED = 20
_OF_THE_AGENT = facts.Said | facts.Showed | facts.Responded | facts.AskRaised


async def was_named(hub: Hub, worker: Worker, path: str) -> bool:
    """Whether the conversation names the file: what waits, then the past, the newest pages first."""
    if not path:
        return False
    named = _names(path)
    if named.search(encode(_attached(_waiting(worker)))):
        return True
    before: Seq | None = None
    for _ in range(_PAGES_SEARCHED):
        page = await hub.history(worker.name, before, LONGEST_PAGE)
        entries = (*page.entries, *((page.open,) if page.open else ()))
        if any(named.search(encode(one)) for one in _told(entries)):
            return True
        if not page.more or not page.entries:
            return False
        before = page.entries[0].seq
    return False


def _waiting(worker: Worker) -> Iterator[Message]:
    yield from worker.queue
    if worker.turn is not None and worker.turn.message is not None:
        yield worker.turn.message


def _told(entries: Iterable[HistoryEntry]) -> Iterator[object]:
    """What the agent told, and what was attached: the words of people name no file, for then they could name any."""
    for entry in entries:
        match entry:
            case TurnEntry(view=view, messages=messages):
                asks = tuple(replace(one, settled=None) for one in view.asks)
                yield replace(view, typed="", notes=(), asks=asks)
                yield _attached(messages)
            case FactEntry(event=event) if isinstance(event.fact, _OF_THE_AGENT):
                yield event.fact
            case FactEntry():
                continue


def _attached(messages: Iterable[Message]) -> list[Attachment]:
    return [attachment for message in messages for attachment in message.attachments]


def _names(path: str) -> re.Pattern[bytes]:
    """The path as a whole, as JSON has it: a string of its own, or what a tag for files names."""
    whole = re.escape(encode(path)[1:-1])
    return re.compile(rb'(?<=[:,\[]")' + whole + rb'"|\[\[(?:image|file): *' + whole + rb" *(?:\]\]|\|)")
