"""The tables of the present: what each fact changes in them."""

import sqlite3
from typing import assert_never

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.limit_pauses import resumes_at
from farhand.model.present import Turn
from farhand.model.present_fold import put_back
from farhand.model.receipts import receipt_at_end
from farhand.model.wire import encode
from farhand.model.words import HowEnded, HowSettled, Receipt
from farhand.store import attention_rows, failed_rows, history_due, spent_rows, sprint_rows
from farhand.store.read_tables import open_turn, steering


def apply(db: sqlite3.Connection, event: Event, turn: Turn | None = None) -> None:
    """Writes what the event changes. Facts of the agent's talk change nothing.

    `turn` is the one that the event ends, where its entry in the history was written already."""
    fact, worker = event.fact, event.worker
    match fact:
        case facts.Said() | facts.Thought() | facts.ToolEnded() | facts.Showed() | facts.Responded() | facts.Noted():
            return
        case facts.ToolStarted():
            db.execute("UPDATE turns SET acted = 1 WHERE worker = ? AND acted = 0", (worker,))
        case (
            facts.Hired()
            | facts.EndAsked()
            | facts.Ended()
            | facts.Focused()
            | facts.RelaunchAsked()
            | facts.TuneAsked()
            | facts.Tuned()
            | facts.CameOnline()
            | facts.WentOffline()
            | facts.SessionKnown()
            | facts.Limited()
            | facts.LimitLifted()
        ):
            _apply_team(db, event, fact)
        case (
            facts.Queued()
            | facts.Reworded()
            | facts.Reordered()
            | facts.SteerAsked()
            | facts.SteerBegun()
            | facts.SteerDeclined()
            | facts.Withdrawn()
            | facts.HandedOver()
            | facts.Seen()
            | facts.Doubted()
        ):
            _apply_message(db, event, fact)
        case facts.TurnStarted(message=message):
            handed = message is None
            db.execute(
                "INSERT OR REPLACE INTO turns (worker, id, seq, at, message, handed_over) VALUES (?, ?, ?, ?, ?, ?)",
                (worker, event.turn or "", event.seq, event.at, message, handed),
            )
            db.execute(
                "UPDATE messages SET receipt = ?, turn = ? WHERE id = ? AND worker = ?",
                (Receipt.STARTED, event.turn, message, worker),
            )
            failed_rows.started(db, worker)
        case facts.InterruptAsked():
            db.execute("UPDATE turns SET interrupt_asked = ?, interrupted = 0 WHERE worker = ?", (event.seq, worker))
        case facts.Interrupted():
            db.execute("UPDATE turns SET interrupted = 1 WHERE worker = ?", (worker,))
        case facts.Used(usage=usage):
            spent_rows.apply(db, event, usage)
        case facts.TurnEnded(usage=usage):
            spent_rows.apply(db, event, usage)
            _apply_turn_ended(db, event, fact, turn)
        case facts.AskRaised() | facts.AskSettled() | facts.AnswerDelivered():
            _apply_ask(db, event, fact)
        case facts.SprintBegan() | facts.SprintMoved() | facts.HaltAsked() | facts.SprintEnded():
            sprint_rows.apply(db, event, fact)
        case facts.ReviewAsked() | facts.ReviewMoved():
            sprint_rows.apply(db, event, fact)
        case facts.AttentionSet(settings=settings):
            attention_rows.apply(db, settings)
        case _:
            assert_never(fact)


TeamFact = (
    facts.Hired
    | facts.EndAsked
    | facts.Ended
    | facts.Focused
    | facts.RelaunchAsked
    | facts.TuneAsked
    | facts.Tuned
    | facts.CameOnline
    | facts.WentOffline
    | facts.SessionKnown
    | facts.Limited
    | facts.LimitLifted
)


def _apply_team(db: sqlite3.Connection, event: Event, fact: TeamFact) -> None:
    worker = event.worker
    match fact:
        case facts.Hired():
            chosen = (fact.backend, fact.directory, fact.model, fact.mode, fact.effort)
            db.execute(
                "INSERT OR REPLACE INTO workers"
                " (name, since, backend, directory, model, mode, effort, options, session)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (worker, event.seq, *chosen, encode(fact.options), fact.session),
            )
        case facts.EndAsked(hand_back=hand_back):
            db.execute("UPDATE workers SET ending = 1, handing_back = ? WHERE name = ?", (hand_back, worker))
        case facts.Ended():
            _forget(db, worker)
        case facts.Focused():
            db.execute("INSERT OR REPLACE INTO focus (one, worker) VALUES (1, ?)", (worker,))
        case facts.RelaunchAsked():
            db.execute("UPDATE workers SET relaunching = 1, resumes_at = NULL WHERE name = ?", (worker,))
        case facts.TuneAsked():
            db.execute("UPDATE workers SET tuning = ? WHERE name = ?", (encode(fact), worker))
        case facts.Tuned():
            changed = (None, None, None) if fact.refused else (fact.model, fact.mode, fact.effort)
            db.execute(
                "UPDATE workers SET tuning = NULL, model = coalesce(?, model), mode = coalesce(?, mode),"
                " effort = coalesce(?, effort) WHERE name = ?",
                (*changed, worker),
            )
        case facts.CameOnline(session=session):
            db.execute(
                "UPDATE workers SET online = 1, relaunching = 0, why_offline = '', why_offline_phrase = NULL,"
                " session = CASE WHEN ? <> '' THEN ? ELSE session END WHERE name = ?",
                (session, session, worker),
            )
        case facts.WentOffline(why=why, why_phrase=phrase, asked=asked, final=final):
            db.execute(
                "UPDATE workers SET online = 0, why_offline = ?, why_offline_phrase = ?,"
                " relaunching = relaunching AND (online OR ?) WHERE name = ?",
                (why if final else "", encode(phrase) if phrase and final else None, asked, worker),
            )
        case facts.SessionKnown(session=session):
            db.execute("UPDATE workers SET session = ? WHERE name = ?", (session, worker))
        case facts.Limited():
            _limit(db, event, fact)
        case facts.LimitLifted():
            db.execute("UPDATE workers SET resumes_at = NULL WHERE name = ?", (worker,))
        case _:
            assert_never(fact)


def _limit(db: sqlite3.Connection, event: Event, fact: facts.Limited) -> None:
    row = db.execute("SELECT limits FROM workers WHERE name = ?", (event.worker,)).fetchone()
    if row is not None:
        db.execute(
            "UPDATE workers SET limited = ?, limits = limits + 1, resumes_at = ? WHERE name = ?",
            (encode(fact), resumes_at(fact.until, event.at, row[0]), event.worker),
        )
        db.execute("UPDATE turns SET limited = 1 WHERE worker = ?", (event.worker,))


def _forget(db: sqlite3.Connection, worker: str) -> None:
    db.execute("DELETE FROM workers WHERE name = ?", (worker,))
    db.execute("DELETE FROM turns WHERE worker = ?", (worker,))
    db.execute("DELETE FROM focus WHERE worker = ?", (worker,))
    db.execute(
        "UPDATE messages SET receipt = ? WHERE worker = ? AND receipt = ?",
        (Receipt.WITHDRAWN, worker, Receipt.QUEUED),
    )
    db.execute("UPDATE messages SET turn = NULL WHERE worker = ? AND turn IS NOT NULL", (worker,))
    db.execute("UPDATE asks SET open = 0 WHERE worker = ? AND open = 1", (worker,))


MessageFact = (
    facts.Queued
    | facts.Reworded
    | facts.Reordered
    | facts.SteerAsked
    | facts.SteerBegun
    | facts.SteerDeclined
    | facts.Withdrawn
    | facts.HandedOver
    | facts.Seen
    | facts.Doubted
)


def _apply_message(db: sqlite3.Connection, event: Event, fact: MessageFact) -> None:
    match fact:
        case facts.Queued():
            db.execute(
                "INSERT OR REPLACE INTO messages (id, worker, seq, at, text, attachments, sender, steer, receipt)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    fact.message,
                    event.worker,
                    event.seq,
                    event.at,
                    fact.text,
                    encode(fact.attachments),
                    encode(fact.by),
                    fact.steer,
                    Receipt.QUEUED,
                ),
            )
            failed_rows.queued(db, event.worker, fact.again)
        case facts.Reworded(message=message, text=text):
            db.execute("UPDATE messages SET text = ? WHERE id = ?", (text, message))
        case facts.Reordered(messages=messages):
            _reorder(db, event.worker, messages)
        case facts.SteerAsked(message=message):
            db.execute("UPDATE messages SET steer = 1 WHERE id = ?", (message,))
        case facts.SteerBegun(message=message):
            db.execute("UPDATE messages SET on_its_way = 1 WHERE id = ?", (message,))
        case facts.SteerDeclined(message=message):
            db.execute("UPDATE messages SET on_its_way = 0 WHERE id = ?", (message,))
        case facts.Withdrawn(message=message):
            _set_receipt(db, message, Receipt.WITHDRAWN)
        case facts.HandedOver(message=message) | facts.Seen(message=message):
            # One that was in doubt has left the queue already. Those that joined a turn stand in the order of joining.
            db.execute(
                "UPDATE messages SET on_its_way = 0, seq = ?, turn = (SELECT id FROM turns WHERE worker = ?)"
                " WHERE id = ? AND turn IS NULL AND receipt = ?",
                (event.seq, event.worker, message, Receipt.QUEUED),
            )
            _set_receipt(db, message, Receipt.SEEN if isinstance(fact, facts.Seen) else Receipt.HANDED_OVER)
            db.execute("UPDATE turns SET handed_over = 1 WHERE worker = ? AND message = ?", (event.worker, message))
        case facts.Doubted(message=message):
            _set_receipt(db, message, Receipt.UNKNOWN)
            db.execute("UPDATE turns SET doubted = 1 WHERE worker = ? AND message = ?", (event.worker, message))
        case _:
            assert_never(fact)


def _reorder(db: sqlite3.Connection, worker: str, messages: tuple[str, ...]) -> None:
    """The queue shares out its own numbers anew."""
    rows = db.execute(
        "SELECT id, seq FROM messages WHERE worker = ? AND receipt = 'queued' ORDER BY seq", (worker,)
    ).fetchall()
    places = {message: place for place, message in enumerate(messages)}
    order = sorted((row[0] for row in rows), key=lambda message: places.get(message, len(places)))
    seqs = (row[1] for row in rows)
    db.executemany("UPDATE messages SET seq = ? WHERE id = ?", list(zip(seqs, order, strict=True)))


def _set_receipt(db: sqlite3.Connection, message: str, receipt: Receipt) -> None:
    db.execute("UPDATE messages SET receipt = ? WHERE id = ?", (receipt, message))


def _apply_turn_ended(db: sqlite3.Connection, event: Event, fact: facts.TurnEnded, turn: Turn | None) -> None:
    """`turn` is there where its entry in the history was written already."""
    row = db.execute("SELECT id, seq, message, handed_over FROM turns WHERE worker = ?", (event.worker,)).fetchone()
    if row is None or row[0] != event.turn:
        return
    _, first, begun_with, handed_over = row
    if turn is not None and fact.how is HowEnded.PARKED:
        _put_back(db, event.worker, turn)
    if fact.can_retry and (ended := turn or open_turn(db, event.worker)):
        failed_rows.ended(db, event.worker, ended, fact)
    db.execute("DELETE FROM turns WHERE worker = ?", (event.worker,))
    if fact.how is HowEnded.COMPLETED:
        db.execute(
            "UPDATE workers SET limited = NULL, limits = 0, resumes_at = NULL"
            " WHERE name = ? AND (limited IS NOT NULL OR limits <> 0 OR resumes_at IS NOT NULL)",
            (event.worker,),
        )
    end = receipt_at_end(fact.how, handed_over=bool(handed_over))
    rows = db.execute(
        "SELECT id, receipt FROM messages WHERE worker = ? AND turn = ? ORDER BY seq", (event.worker, event.turn)
    ).fetchall()
    # Each by its key: an update that finds its rows by an index that it changes takes three times as long.
    for message, receipt in rows:
        known = receipt if receipt == Receipt.UNKNOWN else end
        db.execute("UPDATE messages SET receipt = ?, turn = NULL WHERE id = ?", (known, message))
    if turn is None:
        joined = [row[0] for row in rows if row[0] != begun_with]
        said = [begun_with, *joined] if begun_with is not None else joined
        history_due.put(db, first, event.seq, event.worker, row[0], said)


def _put_back(db: sqlite3.Connection, worker: str, turn: Turn) -> None:
    """The messages of a turn that a limit stopped wait again, before all others and under new names."""
    before = [*((turn.message,) if turn.message else ()), *steering(db, worker, turn)]
    after = put_back(turn, tuple(before[1:] if turn.message else before))
    for old, new in reversed(list(zip(before, after, strict=True))):
        row = db.execute(
            "SELECT min(seq) FROM messages WHERE worker = ? AND receipt = ?", (worker, Receipt.QUEUED)
        ).fetchone()
        head = turn.seq if row[0] is None else min(row[0], turn.seq)
        db.execute(
            "UPDATE OR REPLACE messages SET id = ?, text = ?, seq = ?, receipt = ?, turn = NULL WHERE id = ?",
            (new.id, new.text, head - 1, Receipt.QUEUED, old.id),
        )


def _apply_ask(
    db: sqlite3.Connection, event: Event, fact: facts.AskRaised | facts.AskSettled | facts.AnswerDelivered
) -> None:
    match fact:
        case facts.AskRaised():
            deadline = None if fact.deadline_seconds is None else event.at + fact.deadline_seconds
            db.execute(
                "INSERT OR REPLACE INTO asks (id, worker, turn, seq, at, deadline, raised)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (fact.ask, event.worker, event.turn, event.seq, event.at, deadline, encode(fact)),
            )
        case facts.AskSettled():
            delivered = fact.how in (HowSettled.DESK, HowSettled.WITHDRAWN)
            db.execute(
                "UPDATE asks SET settled = ?, open = ? WHERE id = ? AND open = 1",
                (encode(fact), not delivered, fact.ask),
            )
        case facts.AnswerDelivered(ask=ask):
            db.execute("UPDATE asks SET open = 0 WHERE id = ?", (ask,))
        case _:
            assert_never(fact)
