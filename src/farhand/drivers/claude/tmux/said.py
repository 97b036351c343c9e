"""The agent's words, which come twice, as they are displayed and as they are written: each is said once. Pure."""

from __future__ import annotations

from farhand.drivers.claude.tmux.state import ClaudeState, Told
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.facts import Fact, Said
from farhand.model.ports import Heard
from farhand.model.words import replace


def say(text: str, state: ClaudeState) -> tuple[list[Fact], ClaudeState]:
    """A piece of the answer, apart from what was said before it."""
    if not text:
        return [], state
    gap = "\n\n" if state.spoke else ""
    return [Said(text=gap + text)], replace(state, spoke=True)


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


def displayed(payload: Fields, state: ClaudeState) -> Told:
    """A MessageDisplay payload: whole lines of an answer while it is still being written."""
    delta = payload.text("delta")
    if not state.running or not delta or payload.text("prompt_id") != state.prompt:
        return [], state
    index, fresh = payload.whole("index"), payload.text("message_id") != state.showing
    if index != (0 if fresh else state.piece):
        # Hooks may overtake one another: leave the rest of this message to the transcript.
        return [], replace(state, showing=payload.text("message_id"), piece=-1)
    state = replace(state, showing=payload.text("message_id"), piece=index + 1)
    if state.covered.startswith(delta):
        return [], replace(state, covered=state.covered[len(delta) :])
    if state.covered:
        return [], replace(state, piece=-1)
    said: list[Fact] = [Said(text=delta)]
    if fresh:
        said, state = say(delta, state)
    heard = [Heard(fact=fact, turn=state.turn or None) for fact in said]
    return heard, replace(state, streamed=state.streamed + delta)
