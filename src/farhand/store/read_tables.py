"""The present read back from its tables. A start costs what is there now, not what ever was."""

import sqlite3
from typing import Any

import msgspec

from farhand.model import facts
from farhand.model.present import Ask, Message, Present, Turn, Worker, raised_ask
from farhand.model.words import Attachment, Mode, Phrase, Sender, replace
from farhand.store import attention_rows, failed_rows, spent_rows, sprint_rows

_senders = msgspec.json.Decoder(Sender)
_attachments = msgspec.json.Decoder(tuple[Attachment, ...])
_options = msgspec.json.Decoder(dict[str, str])
_raised = msgspec.json.Decoder(facts.AskRaised)
_settled = msgspec.json.Decoder(facts.AskSettled)
_limited = msgspec.json.Decoder(facts.Limited)
_phrases = msgspec.json.Decoder(Phrase)
_tunings = msgspec.json.Decoder(facts.TuneAsked)


def load(db: sqlite3.Connection) -> Present:
    """The present as the tables have it."""
    seq = db.execute("SELECT max(seq) FROM events").fetchone()[0] or 0
    focus = db.execute("SELECT worker FROM focus").fetchone()
    rows = db.execute(
        "SELECT name, since, backend, directory, model, mode, options, session, online, why_offline, ending,"
        " relaunching, tuning, limited, limits, resumes_at, handing_back, spent, sprint, reviews, effort,"
        " why_offline_phrase, stuck, failed"
        " FROM workers ORDER BY since"
    ).fetchall()
    workers = {row[0]: _worker(db, row) for row in rows}
    return Present(seq=seq, focus=focus[0] if focus else "", workers=workers, attention=attention_rows.read(db))


def _worker(db: sqlite3.Connection, row: tuple[Any, ...]) -> Worker:
    name, since, backend, directory, model, mode, options, session, online, why, ending = row[:11]
    relaunching, tuning, limited, limits, resumes, handing_back, spent, sprint, reviews, effort = row[11:21]
    phrase, stuck, failed = row[21:]
    turn = open_turn(db, name)
    return Worker(
        name=name,
        since=since,
        backend=backend,
        directory=directory,
        model=model,
        mode=Mode(mode),
        effort=effort,
        options=_options.decode(options),
        session=session,
        online=bool(online),
        why_offline=why,
        why_offline_phrase=_phrases.decode(phrase) if phrase else None,
        ending=bool(ending),
        relaunching=bool(relaunching),
        tuning=_tunings.decode(tuning) if tuning else None,
        turn=turn,
        queue=_messages(db, "worker = ? AND receipt = 'queued'", (name,)),
        steering=steering(db, name, turn),
        asks=_asks(db, name),
        limited=_limited.decode(limited) if limited else None,
        limits=limits,
        resumes_at=resumes,
        handing_back=bool(handing_back),
        spent=spent_rows.read(spent),
        sprint=sprint_rows.decode(sprint) if sprint else None,
        stuck=stuck,
        reviews=sprint_rows.decode_reviews(reviews) if reviews else (),
        failed=failed_rows.decode(failed),
    )


def open_turn(db: sqlite3.Connection, worker: str) -> Turn | None:
    """The turn that the worker is at."""
    row = db.execute(
        "SELECT id, seq, at, message, handed_over, doubted, interrupt_asked, interrupted, acted, limited"
        " FROM turns WHERE worker = ?",
        (worker,),
    ).fetchone()
    if row is None:
        return None
    return Turn(
        id=row[0],
        seq=row[1],
        at=row[2],
        message=message(db, row[3]) if row[3] is not None else None,
        handed_over=bool(row[4]),
        doubted=bool(row[5]),
        interrupt_asked=row[6],
        interrupted=bool(row[7]),
        acted=bool(row[8]),
        limited=bool(row[9]),
    )


def message(db: sqlite3.Connection, name: str) -> Message | None:
    """The message of that id, if it is kept."""
    return next(iter(_messages(db, "id = ?", (name,))), None)


def turn_messages(db: sqlite3.Connection, worker: str, turn: Turn) -> tuple[Message, ...]:
    """What was said to that running turn: its first message, then those that joined it."""
    return (*((turn.message,) if turn.message else ()), *steering(db, worker, turn))


def steering(db: sqlite3.Connection, worker: str, turn: Turn | None) -> tuple[Message, ...]:
    """The messages that joined that turn, in the order of joining."""
    if turn is None:
        return ()
    first = turn.message.id if turn.message else ""
    return _messages(db, "worker = ? AND turn = ? AND id <> ?", (worker, turn.id, first))


def _messages(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> tuple[Message, ...]:
    rows = db.execute(
        f"SELECT id, text, at, sender, attachments, steer, on_its_way FROM messages WHERE {where} ORDER BY seq",  # noqa: S608
        values,
    )
    return tuple(
        Message(
            id=row[0],
            text=row[1],
            at=row[2],
            by=_senders.decode(row[3]),
            attachments=_attachments.decode(row[4]),
            steer=bool(row[5]),
            on_its_way=bool(row[6]),
        )
        for row in rows
    )


def _asks(db: sqlite3.Connection, worker: str) -> tuple[Ask, ...]:
    rows = db.execute(
        "SELECT turn, seq, deadline, raised, settled FROM asks WHERE worker = ? AND open = 1 ORDER BY seq", (worker,)
    )
    return tuple(_ask(worker, *row) for row in rows)


def _ask(worker: str, turn: str | None, seq: int, deadline: float | None, raised: bytes, settled: bytes | None) -> Ask:
    ask = raised_ask(_raised.decode(raised), worker, turn, seq, deadline)
    return replace(ask, settled=_settled.decode(settled)) if settled else ask


def settled(db: sqlite3.Connection, ask: str) -> facts.AskSettled | None:
    """How an ask of the past was settled."""
    row = db.execute("SELECT settled FROM asks WHERE id = ?", (ask,)).fetchone()
    return _settled.decode(row[0]) if row and row[0] else None


def receipts(db: sqlite3.Connection) -> dict[str, str]:
    """The receipt of every message that is kept."""
    return dict(db.execute("SELECT id, receipt FROM messages").fetchall())
