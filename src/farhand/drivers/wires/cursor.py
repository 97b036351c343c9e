"""Encodes and decodes cursors: the position of a link, as the journal stores it."""

from __future__ import annotations

import msgspec

from farhand.model.words import AnyWord, Word


def read_cursor(cursor: str, kind: type[AnyWord]) -> AnyWord:
    """The position that a cursor names; a fresh one when there is none, or it cannot be read."""
    try:
        return msgspec.json.decode(cursor, type=kind) if cursor else kind()
    except msgspec.MsgspecError:
        return kind()


def write_cursor(position: Word) -> str:
    """The cursor of a position."""
    return msgspec.json.encode(position).decode()
