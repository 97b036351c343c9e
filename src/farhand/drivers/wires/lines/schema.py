"""The lines of the line protocol as typed words: checked once, here, line by line."""

from typing import TypeAlias

import msgspec

from farhand.model.action import Action
from farhand.model.words import AskId, AskKind, Choice, HowEnded, TurnId, Word


class LineSession(Word):
    """The agent's session has this id."""

    session: str


class LineStarted(Word):
    """The agent has read the prompt and begins."""

    started: TurnId


class LineText(Word):
    """A piece of the answer."""

    text: TurnId
    piece: str


class LineThinking(Word):
    """A piece of the agent's thinking."""

    thought: TurnId
    piece: str


class LineTool(Word):
    """A tool call: started, and later done or failed."""

    tool: TurnId
    call: str
    status: str
    name: str = ""
    title: str = ""
    output: str = ""


class LineAsk(Word):
    """A question that waits for a person."""

    ask: TurnId
    ask_id: AskId
    question: str
    choices: tuple[Choice, ...]
    about: AskKind = AskKind.PERMISSION
    detail: str = ""
    # What would be done, in which folder if not in the worker's own, and why in the agent's own words.
    action: Action | None = None
    where: str = ""
    why: str = ""
    # Names exactly what will run.
    digest: str = ""
    several: bool = False


class LineImage(Word):
    """A picture to show."""

    image: TurnId
    path: str
    caption: str = ""


class LineUsage(Word):
    """What the turn took."""

    usage: TurnId
    input: int = 0
    output: int = 0


class LineEnded(Word):
    """The turn is over."""

    ended: TurnId
    how: HowEnded
    error: str = ""


class LineProblem(Word):
    """The agent could not make sense of something."""

    problem: TurnId
    text: str


Line: TypeAlias = (
    LineStarted
    | LineText
    | LineThinking
    | LineTool
    | LineAsk
    | LineImage
    | LineUsage
    | LineEnded
    | LineProblem
    | LineSession
)

KINDS: dict[str, type[Line]] = {
    "started": LineStarted,
    "thought": LineThinking,
    "tool": LineTool,
    "ask": LineAsk,
    "image": LineImage,
    "usage": LineUsage,
    "ended": LineEnded,
    "problem": LineProblem,
    # After the problem, which has a text, too.
    "text": LineText,
    "session": LineSession,
}


class LineUnreadable(Exception):
    """A line that is not of the protocol; the text says why."""


def read(line: bytes) -> Line | None:
    """The line as a word; None for one that this version does not know. Raises LineUnreadable."""
    try:
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        kind = next((KINDS[name] for name in KINDS if name in fields), None)
        return None if kind is None else msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineUnreadable(str(error)) from None
