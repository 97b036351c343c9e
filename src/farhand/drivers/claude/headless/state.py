"""What a headless link to Claude Code remembers; it travels in the cursor."""

from __future__ import annotations

from farhand.drivers.claude.asks import ClaudeQuestion
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage
from farhand.model.words import Usage, UsageWindow, Word


class ClaudeStreamState(Word):
    """What the translation remembers between lines; it travels in the wire's cursor."""

    session: str = ""
    running: bool = False
    # The core's name for the running turn.
    turn: str = ""
    spoke: bool = False
    # Text and thought of the block that is being streamed: its whole form, which follows, is not repeated.
    text: str = ""
    thought: str = ""
    expected: tuple[ExpectedMessage, ...] = ()
    usage: Usage = Usage()
    counted: str = ""
    # How many tokens the conversation had in the last call of the model.
    context: int = 0
    # What the session had cost before this turn: the CLI reports the sum.
    cost_before: float = 0.0
    # When the limit ends that a rate_limit_event has announced.
    resets_at: float | None = None
    windows: tuple[UsageWindow, ...] = ()
    skipped: int = 0
    # What became of the newest requests of ours: '' for one that was granted, otherwise why it was not.
    answered: dict[str, str] = {}


class ClaudeOpenAsk(Word):
    """A question that waits, as it came."""

    question: ClaudeQuestion


class ClaudeStreamCursor(Word):
    """Where a headless link stands."""

    # The cursor of the held process.
    wire: str = ""
    session: str = ""
    state: ClaudeStreamState = ClaudeStreamState()
    asks: dict[str, ClaudeOpenAsk] = {}
