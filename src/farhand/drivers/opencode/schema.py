"""What OpenCode sends, read and checked once: events of its stream, messages of a session, lines of `run`."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
DATA = b"data:"


class Foreign(msgspec.Struct, frozen=True):
    """What came from outside; fields that nobody here needs are passed over."""


class OpenCodeEvent(Foreign, frozen=True):
    """One event: what kind, and its own fields as they came."""

    type: str
    properties: msgspec.Raw = msgspec.Raw(b"{}")


class Time(Foreign, frozen=True):
    """When something began and, if it has, ended, in milliseconds."""

    start: float = 0
    end: float | None = None
    created: float = 0
    completed: float | None = None


class Cache(Foreign, frozen=True):
    """Tokens that were read from a cache or written to it."""

    read: int = 0
    write: int = 0


class Tokens(Foreign, frozen=True):
    """What a step took."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: Cache = Cache()


class OpenCodeError(Foreign, frozen=True):
    """Why something failed."""

    name: str = ""
    data: dict[str, Any] = {}


class ToolState(Foreign, frozen=True):
    """How far a tool call is."""

    status: str = ""
    input: dict[str, Any] = {}
    output: str = ""
    error: str = ""
    title: str = ""


class Part(Foreign, frozen=True):
    """A piece of a message: words, a thought, a tool call, the end of a step."""

    type: str
    id: str
    messageID: str  # noqa: N815
    sessionID: str  # noqa: N815
    text: str = ""
    synthetic: bool = False
    time: Time | None = None
    tool: str = ""
    callID: str = ""  # noqa: N815
    state: ToolState = ToolState()
    tokens: Tokens | None = None
    cost: float = 0


class Info(Foreign, frozen=True):
    """A message without its parts."""

    id: str
    role: str
    sessionID: str  # noqa: N815
    parentID: str = ""  # noqa: N815
    time: Time = Time()
    error: OpenCodeError | None = None
    summary: Any = None


class OpenCodeMessage(Foreign, frozen=True):
    """A message with its parts, as a session has it."""

    info: msgspec.Raw
    parts: list[msgspec.Raw] = []


class MessageUpdated(Foreign, frozen=True):
    """A message began or changed."""

    info: Info


class PartUpdated(Foreign, frozen=True):
    """A part began or changed."""

    part: Part


class PartDelta(Foreign, frozen=True):
    """A part grew."""

    sessionID: str  # noqa: N815
    messageID: str  # noqa: N815
    partID: str  # noqa: N815
    field: str
    delta: str


class OpenCodeStatus(Foreign, frozen=True):
    """What a session does now; `next` says when it tries again."""

    type: str
    message: str = ""
    next: float = 0


class StatusChanged(Foreign, frozen=True):
    """A session does something else now."""

    sessionID: str  # noqa: N815
    status: OpenCodeStatus


class OpenCodeNamed(Foreign, frozen=True):
    """An event that names a session and nothing more that is needed."""

    sessionID: str  # noqa: N815


class SessionFailed(Foreign, frozen=True):
    """Something went wrong in a session."""

    sessionID: str = ""  # noqa: N815
    error: OpenCodeError = OpenCodeError()


class OpenCodeSession(Foreign, frozen=True):
    """A session."""

    id: str
    parentID: str = ""  # noqa: N815
    directory: str = ""
    title: str = ""
    agent: str = ""
    permission: list[dict[str, str]] = []


class SessionCreated(Foreign, frozen=True):
    """A session began."""

    info: OpenCodeSession


class OpenCodePermission(Foreign, frozen=True):
    """A tool wants leave."""

    id: str
    sessionID: str  # noqa: N815
    permission: str
    patterns: list[str] = []
    metadata: dict[str, Any] = {}
    always: list[str] = []


class OpenCodeOption(Foreign, frozen=True):
    """One answer that a question offers."""

    label: str
    description: str = ""


class OpenCodeQuestion(Foreign, frozen=True):
    """One question of a questionnaire."""

    question: str
    header: str = ""
    options: list[OpenCodeOption] = []
    multiple: bool = False
    custom: bool = True


class OpenCodeQuestions(Foreign, frozen=True):
    """The agent asks a person something."""

    id: str
    sessionID: str  # noqa: N815
    questions: list[OpenCodeQuestion] = []


class Replied(Foreign, frozen=True):
    """A request for leave, or a question, is over."""

    sessionID: str  # noqa: N815
    requestID: str  # noqa: N815
    reply: str = ""
    answers: list[list[str]] = []


class RunLine(Foreign, frozen=True):
    """One line of `opencode run --format json`."""

    type: str
    sessionID: str = ""  # noqa: N815
    part: msgspec.Raw = msgspec.Raw()
    error: OpenCodeError | None = None


_Kind = TypeVar("_Kind", bound=Foreign)
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {}


def read(data: bytes | msgspec.Raw, kind: type[_Kind]) -> _Kind | None:
    """The data as that word; None when it is something else."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        decoder = _DECODERS[kind] = msgspec.json.Decoder(kind)
    try:
        found: _Kind = decoder.decode(data)
    except UNREADABLE:
        return None
    return found


def read_list(data: bytes, kind: type[_Kind]) -> list[_Kind]:
    """Those of a list that can be read."""
    try:
        found = msgspec.json.decode(data, type=list[msgspec.Raw])
    except UNREADABLE:
        return []
    return [one for one in (read(raw, kind) for raw in found) if one is not None]


def sentence(error: OpenCodeError) -> str:
    """An error for a person."""
    said = error.data.get("message")
    return said if isinstance(said, str) and said else error.name or "OpenCode ended the turn with an error."
