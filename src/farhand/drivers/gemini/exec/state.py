"""What the translation of a turn's output remembers between lines."""

from __future__ import annotations

from farhand.model.words import Word


class GeminiStreamState(Word):
    """What is known of one turn from its output so far."""

    turn: str = ""
    session: str = ""
    spoke: bool = False
    # Something other than words came since: what is said next begins a paragraph.
    broken: bool = False
    ended: bool = False
    errors: tuple[str, ...] = ()
    skipped: int = 0
