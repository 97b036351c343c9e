"""The history table: a row for each finished turn and each fact between turns, with a full-text index of what was said.

A fact's row is written in its transaction, a turn's later (`history_due`), but before anybody reads the history."""

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from farhand.model import facts, view
from farhand.model.facts import Event
from farhand.model.history import (
    LONGEST_PAGE,
    PAGE_BYTES,
    DayUsage,
    FactEntry,
    Found,
    HistoryEntry,
    HistoryPage,
    TurnEntry,
    excerpt,
    is_late,
    is_shown,
    spoken,
    turn_entry,
    words_of,
)
from farhand.model.present import Message, Turn, queued_message
from farhand.model.wire import decode_event, encode
from farhand.model.words import HowEnded, Seq, TurnId, Usage, WorkerName, replace
from farhand.store import folded_turns, read_tables
from farhand.store.open_turns import NO_TURN, KnownTurn

_entries: msgspec.json.Decoder[HistoryEntry] = msgspec.json.Decoder(HistoryEntry)


def record(db: sqlite3.Connection, event: Event, known: KnownTurn = NO_TURN) -> Turn | None:
    """Writes what the event completes, before the tables of the present take it in; the turn that it ends, if one.

    `known` is what is at hand of the event's turn. Most ends of turns are left to the tables, which note the entry."""
    open_turn = None
    if changes_messages(event.fact):
        open_turn = read_tables.open_turn(db, event.worker)
        _close_turn(db, event, open_turn, known.events)
    elif may_come_late(event, known):
        _fold_late(db, event)
    if is_shown(event):
        _insert(db, FactEntry(seq=event.seq, event=event), event.worker, event.turn, event.seq, event.at)
    return open_turn


def may_come_late(event: Event, known: KnownTurn) -> bool:
    """Whether the event may change the entry of a turn that is over."""
    return event.turn is not None and not known.runs and is_late(event)


def changes_messages(fact: facts.Fact) -> bool:
    """Whether the fact ends a turn and changes what was said to it, so that its entry is written at once."""
    return isinstance(fact, facts.Ended) or (isinstance(fact, facts.TurnEnded) and fact.how is HowEnded.PARKED)


def _close_turn(db: sqlite3.Connection, event: Event, open_turn: Turn | None, of_turn: Sequence[Event]) -> None:
    if open_turn is not None and (isinstance(event.fact, facts.Ended) or open_turn.id == event.turn):
        said = read_tables.turn_messages(db, event.worker, open_turn)
        write_turn(db, event.worker, open_turn.id, open_turn.seq, event.seq, of_turn, said)


def write_turn(
    db: sqlite3.Connection,
    worker: WorkerName,
    turn: TurnId,
    first: Seq,
    last: Seq,
    at_hand: Sequence[Event],
    messages: Sequence[Message],
) -> None:
    """Writes the entry of a turn from its events: those at hand, if they begin with its start, or the journal's."""
    is_whole = bool(at_hand) and at_hand[0].seq == first
    events = at_hand if is_whole else _read_turn(db, worker, turn, first, last)
    if events:
        _insert_turn(db, turn_entry(events, messages), last=last)
        folded_turns.fold_turn(db, events)


def _read_turn(
    db: sqlite3.Connection, worker: WorkerName, turn: str, first: Seq, up_to: Seq, last: Seq | None = None
) -> list[Event]:
    """The events of a turn up to that number; of one that ended since, `last` is the number of its end."""
    rows = db.execute(
        "SELECT body, pieces FROM events WHERE seq >= ? AND seq <= ? ORDER BY seq", (first, last or up_to)
    )
    events = (event for row in rows for event in folded_turns.unfolded(*row) if event.seq <= up_to)
    return [event for event in events if (event.worker, event.turn) == (worker, turn)]


def _fold_late(db: sqlite3.Connection, event: Event) -> None:
    row = db.execute(
        "SELECT seq, body FROM history WHERE worker = ? AND turn = ? AND kind = 'turn'", (event.worker, event.turn)
    ).fetchone()
    if row is not None and isinstance(entry := _entries.decode(row[1]), TurnEntry):
        folded = replace(entry, view=replace(view.fold(entry.view, event), seq=entry.view.seq))
        db.execute("UPDATE history SET body = ? WHERE seq = ?", (encode(folded), row[0]))


def _insert_turn(db: sqlite3.Connection, entry: TurnEntry, last: Seq) -> None:
    _insert(db, entry, entry.view.worker, entry.view.turn, last, entry.view.started_at)


def _insert(
    db: sqlite3.Connection, entry: HistoryEntry, worker: WorkerName, turn: str | None, last: Seq, at: float
) -> None:
    kind = "turn" if isinstance(entry, TurnEntry) else "fact"
    db.execute(
        "INSERT OR REPLACE INTO history (seq, last, worker, turn, kind, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (entry.seq, last, worker, turn, kind, at, encode(entry)),
    )
    if text := spoken(entry):
        db.execute("INSERT INTO spoken (rowid, text) VALUES (?, ?)", (entry.seq, text))


# --- reading


def page(
    db: sqlite3.Connection, worker: WorkerName, before: Seq | None, limit: int, up_to: Seq, running: Sequence[Event]
) -> HistoryPage:
    """Entries before that number, the newest of them, as things stood at `up_to`; without `before` the open turn, too.

    `running` has the events of the open turn, where they are at hand."""
    newest = 2**62 if before is None else before
    rows = db.execute(
        "SELECT body FROM history WHERE worker = ? AND seq < ? AND last <= ? ORDER BY seq DESC",
        (worker, newest, up_to),
    )
    entries: list[HistoryEntry] = []
    size, more = 0, False
    for (body,) in rows:
        if len(entries) >= min(max(limit, 1), LONGEST_PAGE) or (entries and size + len(body) > PAGE_BYTES):
            more = True
            break
        entries.append(_entries.decode(body))
        size += len(body)
    entries.reverse()
    open_entry = _open_entry(db, worker, up_to, running) if before is None else None
    return HistoryPage(seq=up_to, entries=tuple(entries), open=open_entry, more=more)


def _open_entry(db: sqlite3.Connection, worker: WorkerName, up_to: Seq, running: Sequence[Event]) -> TurnEntry | None:
    """The turn that ran at that number; it may have ended since."""
    ended = db.execute(
        "SELECT body, last FROM history WHERE worker = ? AND kind = 'turn' AND seq <= ? AND last > ? ORDER BY seq DESC",
        (worker, up_to, up_to),
    ).fetchone()
    if ended is not None and isinstance(entry := _entries.decode(ended[0]), TurnEntry):
        return turn_entry(_read_turn(db, worker, entry.view.turn, entry.seq, up_to, ended[1]), entry.messages)
    open_turn = read_tables.open_turn(db, worker)
    if open_turn is None or open_turn.seq > up_to:
        return None
    at_hand = bool(running) and running[0].seq == open_turn.seq
    events = running if at_hand else _read_turn(db, worker, open_turn.id, open_turn.seq, up_to)
    return turn_entry(events, read_tables.turn_messages(db, worker, open_turn)) if events else None


def search(db: sqlite3.Connection, query: str, worker: WorkerName, limit: int) -> list[Found]:
    """The newest entries that have all the words of the query, each as the beginning of a word."""
    words = words_of(query)
    if not words:
        return []
    wanted = " ".join(f'"{word}"*' for word in words)
    rows = db.execute(
        "SELECT h.worker, h.seq, h.at, h.body FROM spoken JOIN history h ON h.seq = spoken.rowid"
        " WHERE spoken MATCH ? AND (? = '' OR h.worker = ?) ORDER BY spoken.rowid DESC LIMIT ?",
        (wanted, worker, worker, min(max(limit, 1), LONGEST_PAGE)),
    )
    return [
        Found(worker=name, seq=seq, at=at, excerpt=excerpt(spoken(_entries.decode(body)), words))
        for name, seq, at, body in rows
    ]


def usage(db: sqlite3.Connection, days: int, at: float) -> list[DayUsage]:
    """What each worker's finished turns used, a row a day and worker, the newest day first."""
    rows = db.execute(
        "SELECT date(at, 'unixepoch', 'localtime') AS day, worker, count(*),"
        " sum(json_extract(CAST(body AS TEXT), '$.view.usage.input_tokens')),"
        " sum(json_extract(CAST(body AS TEXT), '$.view.usage.output_tokens')),"
        " sum(json_extract(CAST(body AS TEXT), '$.view.usage.cost_dollars'))"
        " FROM history WHERE kind = 'turn'"
        " AND at >= CAST(strftime('%s', date(?, 'unixepoch', 'localtime', ?), 'utc') AS INTEGER)"
        " GROUP BY day, worker ORDER BY day DESC, worker",
        (at, f"-{days - 1} days"),
    )
    return [
        DayUsage(
            day=day,
            worker=worker,
            turns=turns,
            usage=Usage(input_tokens=given or 0, output_tokens=made or 0, cost_dollars=dollars),
        )
        for day, worker, turns, given, made, dollars in rows
    ]


# --- keeping


def prune(db: sqlite3.Connection, before: float, limit: int) -> int:
    """Removes up to that many entries that are older; returns how many went."""
    rows = db.execute("SELECT seq, body FROM history WHERE at < ? ORDER BY at LIMIT ?", (before, limit)).fetchall()
    for seq, body in rows:
        if text := spoken(_entries.decode(body)):
            # The index keeps no text of its own: it is told what it was given.
            db.execute("INSERT INTO spoken (spoken, rowid, text) VALUES ('delete', ?, ?)", (seq, text))
        db.execute("DELETE FROM history WHERE seq = ?", (seq,))
    return len(rows)


def fill(db: sqlite3.Connection) -> None:
    """Writes the history of a journal that was kept before there was one."""
    messages: dict[str, Message] = {}
    running: dict[WorkerName, list[Event]] = {}
    for (body,) in db.execute("SELECT body FROM events ORDER BY seq"):
        event = decode_event(body)
        turn = running.get(event.worker)
        match event.fact:
            case facts.Queued() as fact:
                messages[fact.message] = queued_message(event, fact)
            case facts.Reworded(message=message, text=text) if message in messages:
                messages[message] = replace(messages[message], text=text)
            case facts.TurnStarted():
                running[event.worker] = [event]
            case _ if turn and (turn[0].turn == event.turn or isinstance(event.fact, facts.Ended)):
                turn.append(event)
                if isinstance(event.fact, facts.TurnEnded | facts.Ended):
                    del running[event.worker]
                    of_turn = [one for one in turn if one.turn == turn[0].turn]
                    _insert_turn(db, turn_entry(of_turn, _said_to(of_turn, messages)), last=event.seq)
        if is_shown(event):
            _insert(db, FactEntry(seq=event.seq, event=event), event.worker, event.turn, event.seq, event.at)


def _said_to(events: Iterable[Event], messages: dict[str, Message]) -> list[Message]:
    names = [
        event.fact.message
        for event in events
        if isinstance(event.fact, facts.TurnStarted | facts.HandedOver | facts.Seen)
    ]
    return [messages[name] for name in dict.fromkeys(names) if name is not None and name in messages]
