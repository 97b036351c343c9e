"""The tables and their migrations, from the first version on. A migration never changes once it has shipped."""

import sqlite3
from collections.abc import Callable

from farhand.store import history

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        body BLOB NOT NULL
    );
    CREATE TABLE inbox (
        via TEXT NOT NULL,
        command TEXT NOT NULL,
        at REAL NOT NULL,
        accepted BLOB NOT NULL,
        PRIMARY KEY (via, command)
    ) WITHOUT ROWID;
    CREATE INDEX inbox_at ON inbox (at);
    CREATE TABLE cursors (
        owner TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        chat TEXT NOT NULL,
        slot TEXT NOT NULL,
        edit INTEGER NOT NULL,
        body BLOB NOT NULL,
        state TEXT NOT NULL DEFAULT 'waiting',
        attempts INTEGER NOT NULL DEFAULT 0,
        doubtful INTEGER NOT NULL DEFAULT 0,
        reference TEXT NOT NULL DEFAULT '',
        problem TEXT NOT NULL DEFAULT '',
        UNIQUE (channel, key)
    );
    CREATE INDEX outbox_unsent ON outbox (channel, chat, id) WHERE state IN ('waiting', 'sending');
    CREATE INDEX outbox_slot ON outbox (channel, slot, id) WHERE slot <> '';

    CREATE TABLE focus (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        worker TEXT NOT NULL
    );
    CREATE TABLE workers (
        name TEXT PRIMARY KEY,
        since INTEGER NOT NULL,
        backend TEXT NOT NULL,
        directory TEXT NOT NULL,
        model TEXT NOT NULL,
        mode TEXT NOT NULL,
        options BLOB NOT NULL,
        session TEXT NOT NULL DEFAULT '',
        online INTEGER NOT NULL DEFAULT 0,
        why_offline TEXT NOT NULL DEFAULT '',
        ending INTEGER NOT NULL DEFAULT 0,
        relaunching INTEGER NOT NULL DEFAULT 0,
        tuning BLOB
    ) WITHOUT ROWID;
    CREATE TABLE turns (
        worker TEXT PRIMARY KEY,
        id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        message TEXT,
        handed_over INTEGER NOT NULL,
        doubted INTEGER NOT NULL DEFAULT 0,
        interrupt_asked INTEGER NOT NULL DEFAULT 0,
        interrupted INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE TABLE messages (
        id TEXT PRIMARY KEY,
        worker TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        text TEXT NOT NULL,
        attachments BLOB NOT NULL,
        sender BLOB NOT NULL,
        steer INTEGER NOT NULL,
        receipt TEXT NOT NULL,
        turn TEXT
    ) WITHOUT ROWID;
    CREATE INDEX messages_queued ON messages (worker, seq) WHERE receipt = 'queued';
    CREATE INDEX messages_turn ON messages (worker, turn) WHERE turn IS NOT NULL;
    CREATE INDEX messages_at ON messages (at);
    CREATE TABLE asks (
        id TEXT PRIMARY KEY,
        worker TEXT NOT NULL,
        turn TEXT,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        deadline REAL,
        raised BLOB NOT NULL,
        settled BLOB,
        open INTEGER NOT NULL DEFAULT 1
    ) WITHOUT ROWID;
    CREATE INDEX asks_open ON asks (seq) WHERE open = 1;
    """,
    """
    ALTER TABLE workers ADD COLUMN limited BLOB;
    """,
    """
    ALTER TABLE workers ADD COLUMN limits INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE workers ADD COLUMN resumes_at REAL;
    ALTER TABLE workers ADD COLUMN handing_back INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN acted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE messages ADD COLUMN on_its_way INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX outbox_reference ON outbox (channel, chat, reference) WHERE reference <> '';
    """,
    """
    ALTER TABLE inbox ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE history (
        seq INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        worker TEXT NOT NULL,
        turn TEXT,
        kind TEXT NOT NULL,
        at REAL NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX history_worker ON history (worker, seq);
    CREATE INDEX history_turn ON history (turn) WHERE turn IS NOT NULL;
    CREATE INDEX history_at ON history (at);
    CREATE VIRTUAL TABLE spoken USING fts5 (text, content = '', tokenize = 'unicode61 remove_diacritics 2');
    """,
    """
    CREATE TABLE epochs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        first INTEGER NOT NULL
    );
    """,
    """
    ALTER TABLE outbox ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;
    UPDATE outbox SET urgent = 1 WHERE state IN ('waiting', 'sending') AND (key LIKE 'ask:%' OR slot LIKE 'ask:%');
    DROP INDEX outbox_unsent;
    CREATE INDEX outbox_unsent ON outbox (channel, chat, urgent, id) WHERE state IN ('waiting', 'sending');
    """,
    """
    CREATE TABLE devices (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        paired_at REAL NOT NULL,
        last_seen REAL NOT NULL,
        read_only INTEGER NOT NULL,
        digest TEXT NOT NULL UNIQUE
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE workers ADD COLUMN spent BLOB;
    """,
    """
    CREATE TABLE managers (
        channel TEXT PRIMARY KEY,
        chat TEXT NOT NULL,
        person TEXT NOT NULL DEFAULT '',
        name TEXT NOT NULL DEFAULT '',
        former TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE workers ADD COLUMN sprint BLOB;
    """,
    """
    ALTER TABLE workers ADD COLUMN reviews BLOB;
    """,
    """
    ALTER TABLE events ADD COLUMN pieces BLOB;
    CREATE INDEX events_folded ON events (seq) WHERE pieces IS NOT NULL;
    """,
    """
    CREATE TABLE passkeys (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        site TEXT NOT NULL,
        device TEXT NOT NULL,
        made_at REAL NOT NULL,
        used_at REAL NOT NULL,
        public_key BLOB NOT NULL,
        sign_count INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE attention (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        settings BLOB NOT NULL
    );
    CREATE TABLE attention_state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        state BLOB NOT NULL
    );
    CREATE TABLE push_subscriptions (
        device TEXT PRIMARY KEY,
        body BLOB NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE workers ADD COLUMN effort TEXT NOT NULL DEFAULT '';
    """,
    """
    ALTER TABLE workers ADD COLUMN why_offline_phrase BLOB;
    """,
    """
    ALTER TABLE workers ADD COLUMN stuck TEXT NOT NULL DEFAULT '';
    """,
    """
    ALTER TABLE workers ADD COLUMN failed BLOB;
    """,
    """
    ALTER TABLE devices ADD COLUMN came_by TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE history_due (
        seq INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        worker TEXT NOT NULL,
        turn TEXT NOT NULL,
        messages BLOB NOT NULL
    );
    """,
)

# What fills the tables of a step from those that were there before, by the version that the step makes.
FILLS: dict[int, Callable[[sqlite3.Connection], None]] = {6: history.fill}
VERSION = len(MIGRATIONS)
