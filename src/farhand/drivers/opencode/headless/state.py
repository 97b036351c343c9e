"""What the translation of OpenCode's events remembers between them. Pure data; it travels in the wire's cursor."""

from __future__ import annotations

from typing import Final, TypeAlias

from farhand.drivers.opencode.schema import OpenCodeError, OpenCodePermission, OpenCodeQuestions
from farhand.model.facts import Fact
from farhand.model.words import Usage, Word, replace

LONGEST_OUTPUT = 20_000
MOST_EXPECTED = 500
MOST_CHILDREN = 8


class OpenCodeExpected(Word):
    """A message that was given to the session under an id of ours: whose it is, and of which turn."""

    id: str
    message: str
    turn: str = ""


class Telling(Word):
    """How much of a part was told. `whole`: it was met half done, and only its end says what is new."""

    kind: str
    told: int = 0
    whole: bool = False


class OpenCodeState(Word):
    """The session, how far its turn is, and what waits for an answer."""

    session: str = ""
    # The sessions of helpers that the agent started: their requests are its own.
    children: tuple[str, ...] = ()
    expected: tuple[OpenCodeExpected, ...] = ()
    # Messages up to this one were told whole. OpenCode's ids rise with time.
    after: str = ""
    newest: str = ""
    running: bool = False
    turn: str = ""
    # The messages of persons in this turn, those that the agent has read, and its own: whether each is complete.
    prompts: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    replies: dict[str, bool] = {}
    # Those of its own that make room and say nothing.
    summaries: tuple[str, ...] = ()
    parts: dict[str, Telling] = {}
    tools: dict[str, bool] = {}
    spoke: bool = False
    error: OpenCodeError | None = None
    # Somebody wants the turn to stop.
    stopped: bool = False
    usage: Usage = Usage()
    # The limit that this turn has met, in its own words.
    limited: str = ""
    # Requests that wait, as they came.
    permissions: dict[str, OpenCodePermission] = {}
    # What was allowed for the session: a turn that runs does not see the session's new rules.
    granted: tuple[tuple[str, str], ...] = ()
    questions: dict[str, OpenCodeQuestions] = {}
    skipped: int = 0


class Moment(Word):
    """When an event came, and how many seconds an ask of it waits."""

    at: float = 0.0
    seconds: float | None = None


# What an event says, and what is remembered after it.
Told: TypeAlias = tuple[list[Fact], OpenCodeState]
NOTHING: Final[list[Fact]] = []


def ours(state: OpenCodeState, message: str) -> OpenCodeExpected | None:
    """The message of that id, if we gave it."""
    return next((one for one in state.expected if one.id == message), None)


def rested(state: OpenCodeState) -> OpenCodeState:
    """Between turns: what was told is not told again."""
    return OpenCodeState(
        session=state.session,
        children=state.children[-MOST_CHILDREN:],
        expected=tuple(one for one in state.expected if one.id not in state.prompts)[-MOST_EXPECTED:],
        after=state.newest,
        newest=state.newest,
        granted=state.granted,
        skipped=state.skipped,
    )


def whole_from(state: OpenCodeState, part: str, kind: str) -> OpenCodeState:
    """A part that was met half done: what was missed of it comes with its end."""
    known = state.parts.get(part) or Telling(kind=kind)
    return replace(state, parts={**state.parts, part: replace(known, whole=True)})


def without_request(state: OpenCodeState, request: str) -> OpenCodeState:
    """The request no longer waits."""
    return replace(
        state,
        permissions={name: one for name, one in state.permissions.items() if name != request},
        questions={name: one for name, one in state.questions.items() if name != request},
    )
