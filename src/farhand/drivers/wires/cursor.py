"""Cursors: where a link stands, as the journal keeps it and gives it back."""

from __future__ import annotations

import msgspec

from farhand.model.words import AnyWord, Word


def read_cursor(cursor: str, kind: type[AnyWord]) -> AnyWord:
    """The spot of a cursor; a fresh one when there is none, or it is not ours."""
    try:
        return msgspec.json.decode(cursor, type=kind) if cursor else kind()
    except msgspec.MsgspecError:
        return kind()


def write_cursor(spot: Word) -> str:
    """The cursor of a spot."""
    return msgspec.json.encode(spot).decode()
