"""State and cursor of the Gemini CLI in tmux: its turns, deduplicated between hooks and session file. Pure."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import msgspec

from farhand.drivers.gemini.asks import GeminiCall, GeminiQuestion
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage, squeezed
from farhand.drivers.wires.tmux.state import TmuxState, another_session, started_by
from farhand.model.facts import Fact, Seen, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, Word, replace

REMEMBERED = 32
MOST_TOOLS = 64


class GeminiToolState(Word):
    """One call of the running turn: hooks and the file tell of it, each without the other's name for it."""

    call: str
    digest: str
    # The file's own id, once it has told of the call.
    filed: str = ""
    hooked: bool = False
    over: bool = False


class GeminiLastMessage(Word):
    """How much of the newest message of the model was told: it is written again when it grows."""

    id: str = ""
    # How long its text was, and what it was, without keeping it.
    length: int = 0
    mark: str = ""
    thoughts: int = 0
    counted: bool = False


class GeminiState(TmuxState):
    """What the translation remembers between records; it travels in the wire's cursor."""

    # The running turn: the core's name for it, what was asked, and when the CLI says that it began.
    turn: str = ""
    prompt: str = ""
    began: float = 0.0
    running: bool = False
    # When the CLI says that the last turn was over: what it wrote before is still of that turn.
    over: float = 0.0
    # Which of hook and file have told of the prompt.
    hooked: bool = False
    written: bool = False
    spoke: bool = False
    usage: Usage = Usage()
    tools: tuple[GeminiToolState, ...] = ()
    last: GeminiLastMessage = GeminiLastMessage()
    # The newest messages, by their ids: one that is written again is no news.
    known: tuple[str, ...] = ()
    # Since when the CLI repeats its history; 0 when it does not.
    replays: float = 0.0
    # The newest messages of ours that the agent has read.
    seen: tuple[str, ...] = ()
    turns: int = 0


class GeminiCursor(Word):
    """Where a link stands: the file, how far it was read, and what its translation remembers."""

    path: str = ""
    # Of lines: after the last one. Of a whole file: where its newest message begins.
    offset: int = 0
    # Of a whole file: what it was when it was last read (inode, size, time), and how its newest message begins.
    stamp: tuple[int, int, int] = (0, 0, 0)
    newest: str = ""
    state: GeminiState = GeminiState()


class GeminiOpenCalls(Word):
    """The calls of the running turn that are not over, and the questions about them."""

    # Questions that are open, each under the name of its ask.
    asks: dict[str, GeminiQuestion] = {}
    # Calls that were announced and have not run yet: a question is about one of them.
    calls: tuple[GeminiCall, ...] = ()
    # Questions that were announced and whose dialog was not seen yet: it may stand behind another one.
    unseen: dict[str, GeminiQuestion] = {}
    # Calls that were allowed from afar and have not run yet.
    allowed: tuple[GeminiCall, ...] = ()


class GeminiPosition(Word):
    """What the journal keeps as a link's cursor; agents outlive an upgrade, so what is stored keeps its names."""

    cursor: GeminiCursor = msgspec.field(default=GeminiCursor(), name="spot")
    asks: dict[str, GeminiQuestion] = {}
    calls: tuple[GeminiCall, ...] = ()
    unseen: dict[str, GeminiQuestion] = {}
    allowed: tuple[GeminiCall, ...] = ()


GeminiTranslated: TypeAlias = tuple[list[Heard], GeminiState]


def position(cursor: GeminiCursor, opened: GeminiOpenCalls) -> GeminiPosition:
    """Both in one."""
    return GeminiPosition(
        cursor=cursor, asks=opened.asks, calls=opened.calls, unseen=opened.unseen, allowed=opened.allowed
    )


def open_calls(kept: GeminiPosition) -> GeminiOpenCalls:
    """The open calls of a position."""
    return GeminiOpenCalls(asks=kept.asks, calls=kept.calls, unseen=kept.unseen, allowed=kept.allowed)


def skip(state: GeminiState) -> GeminiTranslated:
    """A record that nobody understands is counted."""
    return [], replace(state, skipped=state.skipped + 1)


def heard(facts: list[Fact], state: GeminiState) -> list[Heard]:
    """Facts of the running turn."""
    return [Heard(fact=fact, turn=state.turn or None) for fact in facts]


def with_tool(tool: GeminiToolState, state: GeminiState) -> GeminiState:
    """The state with what is known of this call now."""
    known = any(one.call == tool.call for one in state.tools)
    tools = tuple(tool if one.call == tool.call else one for one in state.tools)
    return replace(state, tools=tools if known else (*state.tools, tool)[-MOST_TOOLS:])


# --- turns


def prompted(text: str, when: float, state: GeminiState, *, hook: bool) -> GeminiTranslated:
    """A prompt has reached the agent, its hook or file tells: one of ours is seen, any other began at the desk."""
    reported = state.hooked if hook else state.written
    if state.running and not reported and squeezed(text) == state.prompt:
        return [], replace(state, hooked=state.hooked or hook, written=state.written or not hook)
    if when and when <= state.began:
        # Told late, of a turn before this one.
        return [], state
    found = _expected(text, state)
    turn = found.turn if found is not None and found.turn else f"desk-{state.session[:8]}-{state.turns + 1}"
    before, state = end_turn(state, HowEnded.COMPLETED)
    started = [] if found is not None and found.turn else [Heard(fact=started_by(found, text), turn=turn)]
    seen = [Heard(fact=Seen(message=found.message), turn=turn)] if found is not None else []
    rest = tuple(one for one in state.expected if one is not found)
    read = (*state.seen, *([found.message] if found is not None else []))[-REMEMBERED:]
    fresh = replace(began(state, turn, text, when), hooked=hook, written=not hook, expected=rest, seen=read)
    return [*before, *started, *seen], fresh


def began(state: GeminiState, turn: str, text: str, when: float = 0.0) -> GeminiState:
    """The state at the beginning of a turn."""
    return replace(
        state,
        turn=turn,
        prompt=squeezed(text),
        began=when or state.began,
        running=True,
        replays=0.0,
        hooked=False,
        written=False,
        turns=state.turns + 1,
        spoke=False,
        usage=Usage(),
        tools=(),
        last=GeminiLastMessage(),
    )


def _expected(text: str, state: GeminiState) -> ExpectedMessage | None:
    """The message that this is; what it refers to by `@` may stand behind it."""
    given = squeezed(text)
    exact = next((one for one in state.expected if squeezed(one.text) == given), None)
    return exact or next((one for one in state.expected if given.startswith(squeezed(one.text) + " ")), None)


def end_turn(state: GeminiState, how: HowEnded, error: str = "") -> GeminiTranslated:
    """The end of the running turn, told once."""
    if not state.running:
        return [], state
    usage = state.usage if state.usage != Usage() else None
    expected = tuple(one for one in state.expected if one.turn != state.turn or not one.turn)
    ended = Heard(fact=TurnEnded(how=how, error=error, usage=usage), turn=state.turn or None)
    return [ended], replace(state, running=False, expected=expected, prompt="")


def session_changed(session: str, state: GeminiState) -> GeminiTranslated:
    """The agent's conversation has another id now: it began, or was cleared."""
    begin = partial(GeminiState, seen=state.seen, turns=state.turns)
    return another_session(session, state, lambda: end_turn(state, HowEnded.COMPLETED), begin)
