"""The past of a worker, folded for the eye: finished turns, and the facts between them that a person sees. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from farhand.model import facts, view
from farhand.model.facts import Event
from farhand.model.present import Message
from farhand.model.view import TurnView
from farhand.model.words import NOTHING_USED, Seq, Usage, Word, WorkerName, replace

LONGEST_PAGE = 500
# A page ends at this many bytes, however few entries it has by then; one entry it always has.
PAGE_BYTES = 1024 * 1024
EXCERPT = 160
LONGEST_USAGE_DAYS = 31


class TurnEntry(Word, tag="turn"):
    """A turn and what people said to it: its first message, then those that joined it while it ran."""

    seq: Seq
    view: TurnView
    messages: tuple[Message, ...] = ()


class FactEntry(Word, tag="fact"):
    """A fact that is of no turn, or that is shown beside its turn."""

    seq: Seq
    event: Event


HistoryEntry: TypeAlias = TurnEntry | FactEntry


class HistoryPage(Word):
    """Entries of one worker, oldest first, as of event `seq`: what is in them needs no event up to that number.

    `open` is the turn that runs, on the newest page only; `more` says whether there are older ones."""

    seq: Seq = 0
    entries: tuple[HistoryEntry, ...] = ()
    open: TurnEntry | None = None
    more: bool = False


class DayUsage(Word):
    """What the turns of one worker used that began on one day of the node's calendar, as far as its agent tells."""

    day: str
    worker: WorkerName
    turns: int
    usage: Usage = NOTHING_USED


class Found(Word):
    """A place in the past where all the words that were searched for occur."""

    worker: WorkerName
    # The number of the entry: a page before `seq + 1` ends with it.
    seq: Seq
    at: float
    excerpt: str = ""


# Entries of their own: always, and outside of a turn.
_SHOWN = frozenset(
    (
        facts.Ended,
        facts.Hired,
        facts.Limited,
        facts.LimitLifted,
        facts.Responded,
        facts.SprintBegan,
        facts.SprintEnded,
        facts.Tuned,
        facts.WentOffline,
    )
)
_SHOWN_ALONE = frozenset((facts.Said, facts.Showed, facts.Noted, facts.AskRaised, facts.AskSettled))
# What may come after the end of its turn.
_LATE = frozenset((facts.AskSettled, facts.AnswerDelivered, facts.HandedOver, facts.Seen, facts.Doubted))


def is_shown(event: Event) -> bool:
    """Whether the fact is an entry of its own."""
    fact = event.fact
    kind = type(fact)
    if event.turn is None and kind in _SHOWN_ALONE:
        return True
    return kind in _SHOWN or (isinstance(fact, facts.CameOnline) and not fact.adopted)


def is_late(event: Event) -> bool:
    """Whether the fact may come after the end of its turn; folded twice, it changes nothing more."""
    return type(event.fact) in _LATE


def turn_entry(events: Sequence[Event], messages: Iterable[Message] = ()) -> TurnEntry:
    """The turn that these events, its start first, make up."""
    start = events[0]
    first = start.fact if isinstance(start.fact, facts.TurnStarted) else facts.TurnStarted()
    folded = view.begin(start, first)
    for event in merged(events[1:]):
        folded = view.fold(folded, event)
    return TurnEntry(seq=start.seq, view=replace(folded, seq=events[-1].seq), messages=tuple(messages))


def merged(events: Iterable[Event]) -> Iterator[Event]:
    """The same events with neighbouring pieces of text of one turn joined into the first of them.

    A turn's view is the same either way; joining first keeps the cost linear in the length of the text."""
    run: list[Event] = []
    for event in events:
        if run and not _continues(run[-1], event):
            yield _joined(run)
            run = []
        run.append(event)
    if run:
        yield _joined(run)


def _continues(last: Event, event: Event) -> bool:
    return (
        isinstance(event.fact, facts.Said | facts.Thought)
        and type(event.fact) is type(last.fact)
        and (event.worker, event.turn) == (last.worker, last.turn)
    )


def _joined(run: list[Event]) -> Event:
    first = run[0]
    if len(run) == 1 or not isinstance(first.fact, facts.Said | facts.Thought):
        return first
    texts = "".join(event.fact.text for event in run if isinstance(event.fact, facts.Said | facts.Thought))
    return replace(first, fact=replace(first.fact, text=texts))


def spoken(entry: HistoryEntry) -> str:
    """What people and the agent said in the entry: what a search looks through."""
    match entry:
        case TurnEntry(view=seen, messages=messages):
            return "\n".join([*(message.text for message in messages), seen.typed, seen.text, *seen.notes]).strip()
        case FactEntry(event=event):
            match event.fact:
                case facts.Said(text=text) | facts.Noted(text=text) | facts.Responded(text=text):
                    return text
                case facts.AskRaised(question=question):
                    return question
                case _:
                    return ""


def words_of(query: str) -> tuple[str, ...]:
    """The words that a search is for: letters and digits, whatever stands between them."""
    return tuple("".join(c if c.isalnum() else " " for c in query).split())


def excerpt(text: str, words: Sequence[str]) -> str:
    """One line of the text around the first of the words."""
    line = " ".join(text.split())
    lowered = line.lower()
    at = min((found for word in words if (found := lowered.find(word.lower())) >= 0), default=0)
    start = max(0, at - EXCERPT // 3)
    cut = line[start : start + EXCERPT]
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT < len(line) else ''}"
