"""State and cursor of Codex in tmux: its turns, deduplicated between hooks and rollout. Pure: no clock, no files."""

from __future__ import annotations

from typing import TypeAlias

from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage, squeezed
from farhand.drivers.wires.tmux.state import TmuxState, another_session, started_by
from farhand.model.facts import Fact, Seen, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, Word, replace

REMEMBERED = 32

# Codex trims what it reads, and then runs what begins with `!`: a blank before it would not help.
GUARD = "Message: "


class CodexRolloutState(TmuxState):
    """What the translation remembers between records; it travels in the wire's cursor."""

    # Codex's names for its turns, and the core's for them; the one that runs, and those that are over.
    turns: dict[str, str] = {}
    running: str = ""
    over: tuple[str, ...] = ()
    spoke: bool = False
    last_text: str = ""
    tools: tuple[str, ...] = ()
    usage: Usage = Usage()
    resets_at: float | None = None


class CodexCursor(Word):
    """The rollout that is followed, how far, and what its translation remembers."""

    path: str = ""
    offset: int = 0
    state: CodexRolloutState = CodexRolloutState()


class CodexStart(Word):
    """Which session an agent that lives has, and from where on its rollout is new."""

    session: str = ""
    path: str = ""
    offset: int = 0


CodexTranslated: TypeAlias = tuple[list[Heard], CodexRolloutState]


def skip(state: CodexRolloutState) -> CodexRolloutState:
    """A record that nobody understands is counted."""
    return replace(state, skipped=state.skipped + 1)


def heard_in(facts: list[Fact], turn: str, state: CodexRolloutState) -> CodexTranslated:
    """Facts of that turn, by the core's name for it."""
    ours = state.turns.get(turn) or None
    return [Heard(fact=fact, turn=ours) for fact in facts], state


# --- turns


def began(state: CodexRolloutState, turn: str, ours: str) -> CodexRolloutState:
    """The state at the beginning of a turn."""
    turns = dict([*state.turns.items(), (turn, ours)][-REMEMBERED:])
    return replace(state, turns=turns, running=turn, spoke=False, last_text="", tools=(), usage=Usage())


def prompted(text: str, turn: str, state: CodexRolloutState) -> CodexTranslated:
    """A prompt has reached the agent: one of ours is seen, any other began at the desk."""
    if not turn:
        return [], skip(state)
    if turn in state.over:
        return [], state
    given = (squeezed(text.removeprefix(GUARD)), squeezed(text)) if state.expected else ()
    found = next((one for one in state.expected if squeezed(one.text) in given), None)
    if turn in state.turns:
        return _seen(found, turn, state) if found is not None else ([], state)
    before, state = end_turn(state, state.running, HowEnded.COMPLETED) if state.running else ([], state)
    ours = found.turn if found is not None and found.turn else f"desk-{turn}"
    started = [] if found is not None and found.turn else [Heard(fact=started_by(found, text), turn=ours)]
    state = began(state, turn, ours)
    seen, state = _seen(found, turn, state) if found is not None else ([], state)
    return [*before, *started, *seen], state


def _seen(found: ExpectedMessage, turn: str, state: CodexRolloutState) -> CodexTranslated:
    rest = tuple(one for one in state.expected if one is not found)
    return heard_in([Seen(message=found.message)], turn, replace(state, expected=rest))


def end_turn(state: CodexRolloutState, turn: str, how: HowEnded, error: str = "") -> CodexTranslated:
    """The end of a turn, told once."""
    if not turn or turn in state.over or turn not in state.turns:
        return [], state
    ours = state.turns[turn]
    usage = state.usage if state.usage != Usage() and turn == state.running else None
    over = replace(state, over=(*state.over, turn)[-REMEMBERED:])
    if turn == state.running:
        over = replace(over, running="", tools=())
    return [Heard(fact=TurnEnded(how=how, error=error, usage=usage), turn=ours)], over


def session_changed(session: str, state: CodexRolloutState) -> CodexTranslated:
    """The agent's conversation has an id now, or another one."""
    return another_session(
        session, state, lambda: end_turn(state, state.running, HowEnded.COMPLETED), CodexRolloutState
    )
