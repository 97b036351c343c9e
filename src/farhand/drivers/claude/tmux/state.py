"""State and cursor of Claude Code in tmux: turns and words, deduplicated between hooks and transcript. Pure."""

from __future__ import annotations

from typing import TypeAlias

from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage, squeezed
from farhand.drivers.wires.tmux.state import TmuxState, another_session, started_by
from farhand.model.facts import Fact, Limited, Said, Seen, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, Usage, Word, replace

# How the name of a prompt begins that is a command of the CLI itself.
COMMAND_PROMPT = "command-"
REMEMBERED = 16
# Pieces that are kept for a prompt that nobody knows yet.
MOST_EARLY = 64


class DisplayedPiece(Word):
    """Whole lines of an answer, displayed while it was still being written."""

    prompt: str
    message: str
    index: int
    text: str
    final: bool = False


class ClaudeState(TmuxState):
    """What the translation remembers between records; it travels in the wire's cursor."""

    # The running turn: the core's name for it, and the CLI's own for its prompt.
    turn: str = ""
    prompt: str = ""
    running: bool = False
    # A slash command: its turn ends with what the CLI prints.
    command: bool = False
    spoke: bool = False
    # Prompts seen, with their turns, and prompts whose end was told: hooks and transcript tell of both.
    prompts: dict[str, str] = {}
    over: tuple[str, ...] = ()
    # The prompt that the transcript has come to: hooks may be ahead of it by a turn.
    written: str = ""
    # What a Stop hook said were the last words, until the transcript has them too.
    stopped: str = ""
    # The same of prompts that nobody knows yet: their own hook runs in the background and may be overtaken.
    stops: dict[str, str] = {}
    early: tuple[DisplayedPiece, ...] = ()
    # Displayed and told, but not in the transcript yet; in the transcript and told, but not displayed yet.
    streamed: str = ""
    covered: str = ""
    # The same as `streamed` of turns before this one: their end may be told before the transcript has their words.
    unwritten: dict[str, str] = {}
    # The message that is being displayed, and which of its pieces must come next.
    showing: str = ""
    piece: int = 0
    # What was displayed of that message, and whether its last piece was.
    shown: str = ""
    whole: bool = False
    # The newest prompt of which something that was displayed did not reach us: the transcript alone has all of it.
    missed: str = ""
    # Tool calls that hooks told of and whose results the transcript has not brought yet.
    calls: tuple[str, ...] = ()
    # Whether the agent tells its thoughts in this session, and whether the transcript has brought the newest.
    thinks: bool = False
    thought: bool = False
    usage: Usage = Usage()
    # The turn before this one, whose last usage the transcript may bring when this one runs already.
    turn_before: str = ""
    usage_before: Usage = Usage()
    counted: str = ""
    # What the session has cost so far, and what it had cost when this turn began.
    cost: float = 0.0
    cost_before: float = 0.0
    # The agent's last words in this turn, and whether they were meant to be the last.
    last_text: str = ""
    concluded: bool = False
    # Somebody's hook told the agent to go on after the end.
    prodded: bool = False


class ClaudeCursor(Word):
    """The transcript that is followed, how far, and what its translation remembers."""

    path: str = ""
    offset: int = 0
    state: ClaudeState = ClaudeState()
    # Answers to the first questions of a questionnaire whose last one is still open.
    picked: dict[str, tuple[PartAnswer, ...]] = {}


Translated: TypeAlias = tuple[list[Heard], ClaudeState]


# --- turns


def began(state: ClaudeState, turn: str, prompt: str) -> ClaudeState:
    """The state at the beginning of a turn."""
    another = turn != state.turn
    return replace(
        _known(state, prompt, turn),
        turn=turn,
        prompt=prompt,
        running=True,
        # What was said, shown and called in the turn before.
        spoke=False,
        command=False,
        covered="",
        streamed="",
        last_text="",
        concluded=False,
        prodded=False,
        shown="",
        whole=False,
        calls=(),
        thought=False,
        stopped=state.stops.get(prompt, ""),
        stops={},
        usage=Usage(),
        cost_before=state.cost,
        # Its late words are compared with what was displayed of it.
        turn_before=state.turn if another else state.turn_before,
        usage_before=state.usage if another else state.usage_before,
        unwritten=_with_unwritten(state, state.turn, state.streamed) if another else state.unwritten,
    )


def _known(state: ClaudeState, prompt: str, turn: str) -> ClaudeState:
    return replace(state, prompts=dict([*state.prompts.items(), (prompt, turn)][-REMEMBERED:]))


def prompted(text: str, prompt: str, state: ClaudeState) -> Translated:
    """A prompt has reached the agent: one of ours is seen, any other began at the desk."""
    if prompt in state.over or prompt in state.prompts:
        return [], state
    found = awaited(text, state)
    if found is not None and not found.turn and state.running:
        arrived, state = seen(found, state.turn, state)
        return arrived, _known(state, prompt, state.turn)
    turn = found.turn if found is not None and found.turn else f"desk-{prompt}"
    # The agent began something new: what ran before is over, though the transcript is late to say so.
    before, state = end_turn(state, state.prompt, HowEnded.COMPLETED) if turn != state.turn else ([], state)
    arrived, state = seen(found, turn, state)
    started = [] if found is not None and found.turn else [Heard(fact=started_by(found, text), turn=turn)]
    shown, state = _early_shown(began(state, turn, prompt))
    return [*before, *started, *arrived, *shown], state


def _early_shown(state: ClaudeState) -> Translated:
    """What was displayed of this prompt before anybody knew it: its hook runs in the background, and was overtaken."""
    heard: list[Heard] = []
    early, state = state.early, replace(state, early=())
    for piece in (one for one in early if one.prompt == state.prompt):
        said, state = _shown(piece, state)
        heard += said
    return heard, state


def seen(found: ExpectedMessage | None, turn: str, state: ClaudeState) -> Translated:
    """That a message of ours is in front of the agent."""
    if found is None:
        return [], state
    rest = tuple(one for one in state.expected if one is not found)
    return [Heard(fact=Seen(message=found.message), turn=turn)], replace(state, expected=rest)


def awaited(text: str, state: ClaudeState) -> ExpectedMessage | None:
    """The message of ours that says this, if one was handed over and not yet seen."""
    given = squeezed(text) if state.expected else ""
    return next((one for one in state.expected if squeezed(one.text) == given), None)


def end_turn(state: ClaudeState, prompt: str, how: HowEnded, error: str = "") -> Translated:
    """The end of the turn, told once for each prompt."""
    if not state.running or prompt in state.over:
        return [], state
    if prompt != state.prompt and state.prompts.get(prompt) != state.turn:
        return [], state
    usage = state.usage if state.usage != Usage() else None
    expected = tuple(one for one in state.expected if one.turn != state.turn or not one.turn)
    over = (*state.over, *dict.fromkeys((prompt, state.prompt)))[-REMEMBERED:]
    done = replace(state, running=False, command=False, over=over, covered="", stopped="", expected=expected)
    return [Heard(fact=TurnEnded(how=how, error=error, usage=usage), turn=state.turn or None)], done


def before_end(ended: list[Heard], limited: Limited | None) -> list[Heard]:
    """The end of a turn with the limit that was its reason; no word of a limit whose turn's end was told already."""
    if limited is None or not ended:
        return ended
    return [Heard(fact=limited, turn=ended[0].turn), *ended]


def conclude(state: ClaudeState) -> Translated:
    """Ends the turn if its Stop hook and either the transcript or the display agree on the last words."""
    in_transcript = state.concluded and state.stopped == state.last_text.strip()
    if not state.stopped or not (in_transcript or _all_displayed(state)):
        return [], state
    return end_turn(state, state.prompt, HowEnded.COMPLETED)


def _all_displayed(state: ClaudeState) -> bool:
    """Whether nothing of the turn but its usage is still to come: the CLI writes its transcript 100 ms late."""
    words = state.whole and state.stopped == state.shown.strip() and state.missed != state.prompt
    return words and not state.calls and (state.thought or not state.thinks)


def session_changed(session: str, state: ClaudeState) -> Translated:
    """The agent's conversation has another id now (it began, or was cleared)."""
    return another_session(session, state, lambda: end_turn(state, state.prompt, HowEnded.COMPLETED), ClaudeState)


# --- words, which come twice: as they are displayed and as they are written


def say(text: str, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    """A piece of the answer, apart from what was said before it."""
    if not text:
        return [], state
    gap = "\n\n" if state.spoke else ""
    return [Said(text=gap + text)], replace(state, spoke=True)


def _with_unwritten(state: ClaudeState, turn: str, words: str) -> dict[str, str]:
    others = {name: text for name, text in state.unwritten.items() if name != turn}
    return dict([*others.items(), (turn, words)][-REMEMBERED:]) if words else others


def of_older_turn(state: ClaudeState) -> ClaudeState:
    """The state in which the transcript's late words of an older turn are compared with what was displayed of it."""
    turn = state.prompts.get(state.written, "")
    return replace(state, streamed=state.unwritten.get(turn, ""), covered="")


def after_older_turn(older: ClaudeState, state: ClaudeState) -> ClaudeState:
    """The state after late words of an older turn: they change nothing of the running one."""
    turn = state.prompts.get(state.written, "")
    unwritten = _with_unwritten(state, turn, older.streamed)
    return replace(state, unwritten=unwritten, skipped=older.skipped, thinks=older.thinks)


def written(text: str, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    """A text block came into the transcript: say what its display has not said already."""
    state = replace(state, last_text=text)
    if not state.streamed:
        said, state = say(text, state)
        return said, replace(state, covered=state.covered + text)
    if state.streamed.startswith(text):
        return [], replace(state, streamed=state.streamed[len(text) :])
    if text.startswith(state.streamed):
        rest = text[len(state.streamed) :]
        return ([Said(text=rest)] if rest else []), replace(state, streamed="", covered=rest)
    return say(text, replace(state, streamed="", covered=""))


def displayed(payload: Fields, state: ClaudeState) -> Translated:
    """A MessageDisplay payload; of a prompt that nobody knows yet it is kept until its hook comes."""
    piece = DisplayedPiece(
        prompt=payload.text("prompt_id"),
        message=payload.text("message_id"),
        index=payload.whole("index"),
        text=payload.text("delta"),
        final=payload.flag("final"),
    )
    if not piece.text:
        return [], state
    if piece.prompt and piece.prompt not in state.prompts and piece.prompt not in state.over:
        # What was shown before it are not the last words.
        return [], replace(state, early=(*state.early, piece)[-MOST_EARLY:], shown="", whole=False)
    return _shown(piece, state)


def _shown(piece: DisplayedPiece, state: ClaudeState) -> Translated:
    if not state.running or piece.prompt != state.prompt:
        return [], _missed(piece, state)
    text, fresh = piece.text, piece.message != state.showing
    if piece.index != (0 if fresh else state.piece):
        # Hooks may overtake one another: leave the rest of this message to the transcript.
        return [], replace(_missed(piece, state), showing=piece.message, piece=-1)
    shown = text if fresh else state.shown + text
    state = replace(state, showing=piece.message, piece=piece.index + 1, shown=shown, whole=piece.final)
    if state.covered.startswith(text):
        return [], replace(state, covered=state.covered[len(text) :])
    if state.covered:
        return [], replace(_missed(piece, state), piece=-1)
    said: list[Fact] = [Said(text=text)]
    if fresh:
        said, state = say(text, state)
    heard = [Heard(fact=fact, turn=state.turn or None) for fact in said]
    return heard, replace(state, streamed=state.streamed + text)


def _missed(piece: DisplayedPiece, state: ClaudeState) -> ClaudeState:
    return replace(state, missed=piece.prompt, shown="", whole=False)
