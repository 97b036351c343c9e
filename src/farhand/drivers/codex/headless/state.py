"""What a link to Codex's app-server remembers; it travels in the cursor."""

from __future__ import annotations

import msgspec

from farhand.drivers.codex.asks import CodexQuestion
from farhand.model.words import Usage, UsageWindow, Word


class CodexFileChange(Word):
    """What a change of files is about."""

    title: str
    detail: str
    paths: tuple[str, ...] = ()


class CodexServerState(Word):
    """What the translation remembers between lines; it travels in the wire's cursor."""

    session: str = ""
    # Codex's names for its turns, and the core's for them.
    turns: dict[str, str] = {}
    running: str = ""
    # The core's names of turns that Codex has reported as started.
    begun: tuple[str, ...] = ()
    spoke: bool = False
    # How many characters of each item were streamed: its whole form, which follows, is not repeated.
    streamed: dict[str, int] = msgspec.field(default_factory=dict, name="told")
    tools: tuple[str, ...] = ()
    changes: dict[str, CodexFileChange] = {}
    # What the thread has used in all, and what it had used before this turn.
    total: Usage = Usage()
    before: Usage = Usage()
    resets_at: float | None = None
    windows: tuple[UsageWindow, ...] = ()
    # The turn of which was told that it waits for the network.
    waited: str = ""
    # The replies to our requests: the error, or '' for success.
    answered: dict[str, str] = {}
    skipped: int = 0


class CodexOpenAsk(Word):
    """A question that waits, as it came, and the request that its answer is for."""

    request: int | str
    question: CodexQuestion


class CodexHeadlessCursor(Word):
    """Where a link stands."""

    # The cursor of the held process.
    wire: str = ""
    state: CodexServerState = CodexServerState()
    asks: dict[str, CodexOpenAsk] = {}
