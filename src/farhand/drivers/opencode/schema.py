"""What OpenCode sends, read and checked once: events of its stream, messages of a session, lines of `run`."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
LONGEST_OUTPUT = 20_000
# Events that say nothing about a turn.
IGNORED_EVENTS = frozenset(
    """server.connected server.heartbeat server.instance.disposed session.updated session.diff session.deleted
    message.removed message.part.removed plugin.added catalog.updated reference.updated integration.updated
    todo.updated file.edited file.watcher.updated lsp.updated lsp.client.diagnostics mcp.tools.changed
    vcs.branch.updated command.executed installation.updated installation.update-available project.updated
    tui.prompt.append
    tui.command.execute tui.toast.show tui.session.select pty.created pty.updated pty.exited pty.deleted
    global.disposed storage.write ide.installed""".split()
)


class OpenCodeData(msgspec.Struct, frozen=True):
    """Data that came from OpenCode; unknown fields are ignored."""


class OpenCodeEvent(OpenCodeData, frozen=True):
    """One event: what kind, and its own fields as they came."""

    type: str
    properties: msgspec.Raw = msgspec.Raw(b"{}")


class TimeSpan(OpenCodeData, frozen=True):
    """When something began and, if it has, ended, in milliseconds."""

    start: float = 0
    end: float | None = None
    created: float = 0
    completed: float | None = None


class CachedTokens(OpenCodeData, frozen=True):
    """Tokens that were read from a cache or written to it."""

    read: int = 0
    write: int = 0


class Tokens(OpenCodeData, frozen=True):
    """How many tokens a step used."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: CachedTokens = CachedTokens()


class OpenCodeError(OpenCodeData, frozen=True):
    """Why something failed."""

    name: str = ""
    data: dict[str, object] = {}


class ToolState(OpenCodeData, frozen=True):
    """How far a tool call is."""

    status: str = ""
    input: dict[str, object] = {}
    output: str = ""
    error: str = ""
    title: str = ""

    @property
    def result(self) -> str:
        """What the tool gave, or why it failed, cut to a length that a journal can hold."""
        return (self.error if self.status == "error" else self.output)[:LONGEST_OUTPUT]


class OpenCodePart(OpenCodeData, frozen=True):
    """A piece of a message: text, a thought, a tool call, the end of a step."""

    type: str
    id: str
    messageID: str  # noqa: N815
    sessionID: str  # noqa: N815
    text: str = ""
    synthetic: bool = False
    time: TimeSpan | None = None
    tool: str = ""
    callID: str = ""  # noqa: N815
    state: ToolState = ToolState()
    tokens: Tokens | None = None
    cost: float = 0


class MessageInfo(OpenCodeData, frozen=True):
    """A message without its parts."""

    id: str
    role: str
    sessionID: str  # noqa: N815
    parentID: str = ""  # noqa: N815
    # Of an answer: which model gives it.
    providerID: str = ""  # noqa: N815
    modelID: str = ""  # noqa: N815
    time: TimeSpan = TimeSpan()
    error: OpenCodeError | None = None
    summary: object = None


class ModelLimit(OpenCodeData, frozen=True):
    """How many tokens a model takes; 0 where nobody says."""

    context: int = 0


class OpenCodeModel(OpenCodeData, frozen=True):
    """A model that can be chosen."""

    limit: ModelLimit = ModelLimit()
    # By name, the least effort first.
    variants: dict[str, object] = {}


class OpenCodeMessage(OpenCodeData, frozen=True):
    """A message with its parts, as a session has it."""

    info: msgspec.Raw
    parts: list[msgspec.Raw] = []


class MessageUpdated(OpenCodeData, frozen=True):
    """A message began or changed."""

    info: MessageInfo


class PartUpdated(OpenCodeData, frozen=True):
    """A part began or changed."""

    part: OpenCodePart


class PartDelta(OpenCodeData, frozen=True):
    """A part grew."""

    sessionID: str  # noqa: N815
    messageID: str  # noqa: N815
    partID: str  # noqa: N815
    field: str
    delta: str


class OpenCodeStatus(OpenCodeData, frozen=True):
    """What a session does now; `next` says when it tries again."""

    type: str
    message: str = ""
    next: float = 0


class StatusChanged(OpenCodeData, frozen=True):
    """A session does something else now."""

    sessionID: str  # noqa: N815
    status: OpenCodeStatus


class SessionEvent(OpenCodeData, frozen=True):
    """An event that names a session and nothing more that is needed."""

    sessionID: str  # noqa: N815


class SessionFailed(OpenCodeData, frozen=True):
    """Something went wrong in a session."""

    sessionID: str = ""  # noqa: N815
    error: OpenCodeError = OpenCodeError()


class OpenCodeSession(OpenCodeData, frozen=True):
    """A session."""

    id: str
    parentID: str = ""  # noqa: N815
    directory: str = ""
    title: str = ""
    agent: str = ""
    permission: list[dict[str, str]] = []


class SessionCreated(OpenCodeData, frozen=True):
    """A session began."""

    info: OpenCodeSession


class PermissionCall(OpenCodeData, frozen=True):
    """The tool call that a request is about."""

    messageID: str  # noqa: N815
    callID: str  # noqa: N815


class OpenCodePermission(OpenCodeData, frozen=True):
    """A tool asks for permission."""

    id: str
    sessionID: str  # noqa: N815
    permission: str
    patterns: list[str] = []
    metadata: dict[str, object] = {}
    always: list[str] = []
    tool: PermissionCall | None = None


class OpenCodeOption(OpenCodeData, frozen=True):
    """One answer that a question offers."""

    label: str
    description: str = ""


class OpenCodeQuestion(OpenCodeData, frozen=True):
    """One question of a questionnaire."""

    question: str
    header: str = ""
    options: list[OpenCodeOption] = []
    multiple: bool = False
    custom: bool = True


class OpenCodeQuestions(OpenCodeData, frozen=True):
    """The agent asks a person something."""

    id: str
    sessionID: str  # noqa: N815
    questions: list[OpenCodeQuestion] = []


class Replied(OpenCodeData, frozen=True):
    """A permission request, or a question, was answered or withdrawn."""

    sessionID: str  # noqa: N815
    requestID: str  # noqa: N815
    reply: str = ""
    answers: list[list[str]] = []


class RunLine(OpenCodeData, frozen=True):
    """One line of `opencode run --format json`."""

    type: str
    sessionID: str = ""  # noqa: N815
    part: msgspec.Raw = msgspec.Raw()
    error: OpenCodeError | None = None


DataKind = TypeVar("DataKind", bound=OpenCodeData)
# Made once for each type: many events of a stream are read a second.
_DECODERS: Final[dict[type[OpenCodeData], msgspec.json.Decoder[OpenCodeData]]] = {}


def read(data: bytes | msgspec.Raw, kind: type[DataKind]) -> DataKind | None:
    """The data decoded as that type; None when it is something else."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        decoder = _DECODERS[kind] = msgspec.json.Decoder(kind)
    try:
        found = decoder.decode(data)
    except UNREADABLE:
        return None
    return found if isinstance(found, kind) else None


def read_list(data: bytes, kind: type[DataKind]) -> list[DataKind]:
    """Those items of a list that can be decoded."""
    try:
        found = msgspec.json.decode(data, type=list[msgspec.Raw])
    except UNREADABLE:
        return []
    return [one for one in (read(raw, kind) for raw in found) if one is not None]


def sentence(error: OpenCodeError) -> str:
    """An error for a person."""
    message = error.data.get("message")
    return message if isinstance(message, str) and message else error.name or "OpenCode ended the turn with an error."
