"""All that a client shows, folded from events: the present, each worker's conversation, the receipts. Pure.

A client that holds the live wire folds events onto what it read; the golden fixtures in `tests/golden` hold every
implementation of this fold to the same result, and the store's pages as well."""

from bisect import bisect

from farhand.model import facts, present_fold, view
from farhand.model.facts import Event
from farhand.model.history import FactEntry, HistoryEntry, TurnEntry, is_late, is_shown
from farhand.model.present import Message, Present, Worker
from farhand.model.receipts import fold_receipts
from farhand.model.words import MessageId, Receipt, Word, WorkerName, replace


class ConversationView(Word):
    """The past of one worker, oldest first, and the turn that runs."""

    entries: tuple[HistoryEntry, ...] = ()
    open: TurnEntry | None = None


class TeamView(Word):
    """What is known of a team after the event that `present.seq` names."""

    present: Present = Present()
    conversations: dict[WorkerName, ConversationView] = {}
    receipts: dict[MessageId, Receipt] = {}


def fold(team: TeamView, event: Event) -> TeamView:
    """The view after the event; one that it has folded already changes nothing."""
    if event.seq <= team.present.seq:
        return team
    before = team.present.workers.get(event.worker)
    after = present_fold.fold(team.present, event)
    old = team.conversations.get(event.worker, ConversationView())
    new = _with_turn(old, before, after.workers.get(event.worker), event)
    if is_shown(event):
        new = _with_entry(new, FactEntry(seq=event.seq, event=event))
    conversations = team.conversations if new is old else {**team.conversations, event.worker: new}
    receipts = dict(fold_receipts(team.receipts, before, event))
    return TeamView(present=after, conversations=conversations, receipts=receipts)


def _with_turn(seen: ConversationView, before: Worker | None, after: Worker | None, event: Event) -> ConversationView:
    """The conversation with what the event means for a turn."""
    fact = event.fact
    if isinstance(fact, facts.TurnStarted) and after is not None:
        begun = TurnEntry(seq=event.seq, view=view.begin(event, fact), messages=_said_to(after))
        return replace(seen, open=begun)
    if seen.open is not None and seen.open.view.turn == event.turn:
        folded = replace(view.fold(seen.open.view, event), seq=event.seq)
        if isinstance(fact, facts.TurnEnded):
            return _closed(seen, replace(seen.open, view=folded, messages=_said_to(before)))
        return replace(seen, open=replace(seen.open, view=folded, messages=_said_to(after)))
    if seen.open is not None and isinstance(fact, facts.Ended):
        return _closed(seen, replace(seen.open, messages=_said_to(before)))
    return _folded_late(seen, event) if is_late(event) and event.turn is not None else seen


def _said_to(worker: Worker | None) -> tuple[Message, ...]:
    """What was said to the running turn: its first message, then those that joined it."""
    if worker is None or worker.turn is None:
        return ()
    return (*((worker.turn.message,) if worker.turn.message else ()), *worker.steering)


def _closed(seen: ConversationView, entry: TurnEntry) -> ConversationView:
    return _with_entry(replace(seen, open=None), entry)


def _with_entry(seen: ConversationView, entry: HistoryEntry) -> ConversationView:
    """A turn stands where it began, before what was shown while it ran."""
    at = bisect([one.seq for one in seen.entries], entry.seq)
    return replace(seen, entries=(*seen.entries[:at], entry, *seen.entries[at:]))


def _folded_late(seen: ConversationView, event: Event) -> ConversationView:
    """What comes after the end of its turn is folded into its entry."""
    entries = tuple(
        replace(one, view=replace(view.fold(one.view, event), seq=one.view.seq))
        if isinstance(one, TurnEntry) and one.view.turn == event.turn
        else one
        for one in seen.entries
    )
    return replace(seen, entries=entries)
