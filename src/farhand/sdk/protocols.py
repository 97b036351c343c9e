"""Names the seams of the SDK: what a tool, a hook system, an approver and a context look like to one another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    # One with a default, for checkers alone: to load it would cost every import of the SDK.
    from typing_extensions import TypeVar

    from farhand.sdk.agent import Agent
    from farhand.sdk.hooks.words import EventName
    from farhand.sdk.session import Session

    DepsT_co = TypeVar("DepsT_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    DepsT_co = TypeVar("DepsT_co", covariant=True)

Part: TypeAlias = dict[str, Any]
"""One part of Gemini's wire JSON: `{"text": …}`, `{"functionCall": …}`, `{"inlineData": …}`, or what it may grow."""

Content: TypeAlias = dict[str, Any]
"""One message of Gemini's wire JSON: `{"role": "user" | "model", "parts": [Part, …]}`. A transcript lists these."""

ToolKind = Literal["read", "edit", "execute", "search", "fetch", "think", "other"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back: `content` for the model, `display` for the person.

    An `error` is told to the model when `visible_error` is true; otherwise the model learns only that the tool failed.
    """

    content: str | list[Part] = ""
    display: str = ""
    error: str | None = None
    visible_error: bool = True
    data: Any = None


@runtime_checkable
class Tool(Protocol):
    """What the model may call. `parameters` is a JSON schema of an object."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def kind(self) -> str: ...
    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult: ...


class Filesystem(Protocol):
    """The files of the workspace, as tools and hooks may touch them."""

    async def read(self, path: str) -> str | None: ...
    async def write(self, path: str, content: str) -> None: ...
    async def read_bytes(self, path: str) -> bytes | None: ...
    async def write_bytes(self, path: str, content: bytes) -> None: ...
    async def delete(self, path: str) -> bool: ...
    async def glob(self, pattern: str) -> Sequence[str]: ...
    async def list(self, path: str = ".") -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class ShellResult:
    """How a shell command ended. `output` is both streams in the order in which they came."""

    exit_code: int
    output: str
    stdout: str
    stderr: str
    timed_out: bool = False


class ShellProcess(Protocol):
    """A running shell command: write to it, follow what it prints, wait for it or end it."""

    @property
    def pid(self) -> int: ...
    async def write(self, text: str) -> None: ...
    async def close_stdin(self) -> None: ...
    def lines(self) -> AsyncIterator[str]: ...
    async def wait(self) -> ShellResult: ...
    async def kill(self) -> None: ...


class Shell(Protocol):
    """Shell commands in the workspace."""

    async def exec(
        self, command: str, *, env: Mapping[str, str] | None = None, timeout_seconds: float | None = None
    ) -> ShellResult: ...

    async def start(
        self, command: str, *, env: Mapping[str, str] | None = None, timeout_seconds: float | None = None
    ) -> ShellProcess: ...


class SessionContext(Protocol[DepsT_co]):
    """What tools, hooks and instructions are handed beside their own arguments.

    `SessionContext[State]` is one whose `deps` is a `State`: what `Agent(deps=…)` was given.
    """

    @property
    def session_id(self) -> str: ...
    @property
    def transcript(self) -> Sequence[Content]: ...
    @property
    def transcript_path(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def timestamp(self) -> str: ...
    @property
    def fs(self) -> Filesystem: ...
    @property
    def shell(self) -> Shell: ...
    @property
    def agent(self) -> Agent: ...
    @property
    def session(self) -> Session: ...
    @property
    def deps(self) -> DepsT_co: ...
    async def ask(self, question: Question) -> Reply: ...
    async def progress(self, message: str, fraction: float | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """What all the hooks of one event said together.

    `modified` carries what the event may change, under the CLI's own names: `tool_input` (BeforeTool), `llm_request`
    (BeforeModel), `llm_response` (BeforeModel, AfterModel), `toolConfig` (BeforeToolSelection), `tailToolCallRequest`
    (AfterTool), `clearContext` (AfterAgent). `additional_context` comes escaped, ready for `<hook_context>`.
    """

    decision: Literal["allow", "deny", "ask"] | None = None
    reason: str = ""
    additional_context: str | None = None
    system_message: str | None = None
    stop: bool = False
    stop_reason: str = ""
    suppress_output: bool = False
    modified: Mapping[str, Any] = field(default_factory=dict[str, Any])


class HookSystem(Protocol):
    """Every hook of a session: from code, from settings, later from extensions.

    `fields` are the event's own fields under the CLI's names (`prompt`, `tool_name`, `tool_input`, `llm_request`, …);
    the fields that all events share (session_id, transcript_path, cwd, hook_event_name, timestamp) come from `context`.
    """

    def listens(self, event_name: EventName, matcher_subject: str | None = None) -> bool: ...
    async def fire(self, event_name: EventName, fields: dict[str, Any], context: SessionContext) -> HookOutcome: ...


class NoHooks:
    """A hook system without hooks: listens to nothing."""

    def listens(self, event_name: EventName, matcher_subject: str | None = None) -> bool:  # noqa: ARG002
        return False

    async def fire(self, event_name: EventName, fields: dict[str, Any], context: SessionContext) -> HookOutcome:  # noqa: ARG002
        return HookOutcome()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for, as the wire had it."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether a call may run. `ask` puts it to a person; with nobody to ask, it is denied."""

    decision: Literal["allow", "deny", "ask"] = "allow"
    reason: str = ""
    # What to run instead of the shell line, without a shell, where it was allowed because it is known to the last word.
    argv: tuple[str, ...] = ()


class Approver(Protocol):
    """Decides on each tool call before it runs. Policies are one of these."""

    async def approve(self, call: ToolCall, context: SessionContext) -> Approval: ...


Verdict: TypeAlias = "Approval | bool | Literal['allow', 'deny', 'ask']"


def as_approval(verdict: Verdict) -> Approval:
    """A verdict in its full form."""
    if isinstance(verdict, Approval):
        return verdict
    if isinstance(verdict, bool):
        return Approval("allow" if verdict else "deny")
    if verdict in ("allow", "deny", "ask"):
        return Approval(verdict)
    # A verdict that nobody understands is no permission.
    return Approval("deny", f"the approver answered {verdict!r}, which is no verdict")


@dataclass(frozen=True, slots=True)
class Question:
    """Something a person is asked: a permission (with its `call`), a choice or a free text.

    An empty `choices` wants free text. `fields` is the raw form of a question that has more to it (ask_user's own).
    `subagent` names the subagent that asks, where it is one. `reason` is why a rule or a hook wants a person's word.
    """

    id: str
    kind: Literal["permission", "choice", "text"]
    text: str
    choices: tuple[str, ...] = ()
    call: ToolCall | None = None
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    subagent: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person said. `answered` is false when nobody was there to ask: permissions are then denied."""

    answered: bool
    choice: str = ""
    text: str = ""
    chosen: tuple[str, ...] = ()

    @property
    def allows(self) -> bool:
        """Whether a permission was given."""
        return self.answered and self.choice in ("allow", "yes")


class Asker(Protocol):
    """Puts a question to a person. The default one reports that nobody is there."""

    async def ask(self, question: Question, context: SessionContext) -> Reply: ...


@runtime_checkable
class Extender(Protocol):
    """A bundle of tools, hooks and instructions: skills, subagents, extensions and MCP servers arrive through this."""

    async def tools(self, context: SessionContext) -> Sequence[Tool]: ...
    async def instructions(self, context: SessionContext) -> str: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Memory:
    """What GEMINI.md files say: the person's own (system instruction), the project's (first user message)."""

    global_text: str = ""
    project_text: str = ""
