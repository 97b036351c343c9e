"""What the person wants to be buzzed for, in the tables of the present."""

import sqlite3

import msgspec

from farhand.model.attention import USUAL_ATTENTION, AttentionSettings
from farhand.model.wire import encode

_settings = msgspec.json.Decoder(AttentionSettings)


def apply(db: sqlite3.Connection, settings: AttentionSettings) -> None:
    """Writes the settings that hold from now on."""
    db.execute("INSERT OR REPLACE INTO attention (one, settings) VALUES (1, ?)", (encode(settings),))


def read(db: sqlite3.Connection) -> AttentionSettings:
    """The settings; the usual ones where nobody changed any."""
    row = db.execute("SELECT settings FROM attention").fetchone()
    return _settings.decode(row[0]) if row else USUAL_ATTENTION
