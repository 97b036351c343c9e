"""What the translation of a turn's output remembers between lines."""

from __future__ import annotations

from farhand.model.words import Usage, Word


class CodexExecState(Word):
    """What the translation remembers between lines."""

    turn: str = ""
    session: str = ""
    spoke: bool = False
    ended: bool = False
    tools: tuple[str, ...] = ()
    # What the thread has used in all; None when it was used before and it is not known how much.
    total: Usage | None = Usage()
    # What went wrong, in case that nothing says so at the end.
    problem: str = ""
    skipped: int = 0
