"""A conversation that is open on a screen and can be driven from outside: its words, and the port to it. Pure."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal, Protocol

from farhand.model.present import Ask
from farhand.model.words import Attachment, Word, WorkerName


class Role(StrEnum):
    """Whose words they are. What the screen itself says is a notice."""

    USER = "user"
    MODEL = "model"
    NOTICE = "notice"


class MessageState(StrEnum):
    """How far a message got: one of a person waits and is taken, one of the agent grows and ends."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class SessionPart(Word):
    """One piece of a message: text, what the model thinks, or the call of a tool with what it brought."""

    kind: Literal["text", "thought", "tool"]
    text: str = ""
    call: str = ""
    title: str = ""
    detail: str = ""
    # Of a tool: None while it runs.
    ok: bool | None = None


class SessionMessage(Word):
    """One message of a conversation. `changed` is the number of its last change."""

    id: int
    role: Role
    at: float
    state: MessageState = MessageState.DONE
    parts: tuple[SessionPart, ...] = ()
    changed: int = 0

    @property
    def text(self) -> str:
        """What was said, without thoughts and tools; what was said around a tool are paragraphs."""
        return "\n\n".join(stripped for part in self.parts if part.kind == "text" and (stripped := part.text.strip()))


class SessionStatus(Word):
    """How a conversation stands. It is ready when it can be spoken to, and stable when nobody works in it."""

    ready: bool = False
    running: bool = False
    agent_type: str = ""
    # Whether its agent has a terminal of its own, to look at and to press keys in.
    has_terminal: bool = False
    # How its agent is talked to.
    wire: str = ""
    model: str = ""
    mode: str = ""
    directory: str = ""
    session_id: str = ""
    queued: int = 0
    tokens: int = 0
    cost_dollars: float | None = None
    # Why it is not ready.
    why: str = ""


class SessionChanges(Word):
    """All that is different since a number: the messages as they are now, in the order of their change."""

    number: int
    messages: tuple[SessionMessage, ...] = ()
    status: SessionStatus | None = None
    asks: tuple[Ask, ...] | None = None


class SessionLog(Protocol):
    """What a conversation shows: messages, status and open questions; each change has a number."""

    @property
    def id(self) -> str:
        """Names this log: the numbers of another one mean something else."""
        ...

    @property
    def number(self) -> int:
        """The number of the last change."""
        ...

    @property
    def messages(self) -> Sequence[SessionMessage]:
        """Every message that was read so far, oldest first, those that wait last."""
        ...

    @property
    def status(self) -> SessionStatus:
        """How it stands."""
        ...

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The questions that wait for a person."""
        ...

    def changes(self, after: int) -> SessionChanges:
        """What is different since that number."""
        ...

    async def wait(self, after: int) -> None:
        """Returns when something has changed since that number."""
        ...


class LiveSession(Protocol):
    """A conversation with one agent, whoever runs it."""

    @property
    def log(self) -> SessionLog:
        """What there is to see of it."""
        ...

    async def read_older(self, limit: int) -> bool:
        """Puts about so many messages that are older than all in the log before them; False where there are none."""
        ...

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """Says it as the person would; it waits while a turn runs. The same key again says nothing more.

        Raises NotReady while nothing can be said."""
        ...

    async def interrupt(self) -> bool:
        """Stops the running turn. Returns whether there was one."""
        ...

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """Settles a question; the first answer wins. Raises UnknownAsk, AskGone or BadInput."""
        ...

    async def withdraw(self, message: int) -> bool:
        """Takes a message back that still waits. Returns whether it did."""
        ...

    async def raw(self, keys: str) -> None:
        """Types keys into the agent's own terminal; raises CannotDo where it has none."""
        ...

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """Tells what the agent's own terminal shows, now and whenever that has changed; returns where it has none."""
        ...


class SessionTerminal(Protocol):
    """The terminal that an agent's own program runs in."""

    async def write(self, keys: str) -> None:
        """Types the characters as they are, escape sequences included; raises CannotDo."""
        ...

    async def watch(self, shown: Callable[[str], None]) -> None:
        """Tells what it shows, now and whenever that has changed, for as long as it is there."""
        ...


class SessionName(Word):
    """A conversation in a list of several: whose it is, how it stands and what was not read yet."""

    name: WorkerName
    state: str
    cost: str = ""
    unread: int = 0
    # What else there is to know: how far its sprint is, how many messages wait.
    doing: str = ""
