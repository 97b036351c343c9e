"""The words of the eleven hook events: what each is told, and what each may answer. Light: hooks start in a blink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

if TYPE_CHECKING:
    from farhand.sdk.hooks.shapes import (
        HookToolResponse,
        LLMRequest,
        LLMResponse,
        McpContext,
        TailToolCall,
        ToolConfig,
    )

EventName = Literal[
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
]
_REQUIRED: Any = object()


@dataclass_transform(kw_only_default=True, frozen_default=True)
class HookRecord:
    """A frozen record with named fields. A dataclass would do, and would double the time a hook takes to start."""

    field_defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        names = [name for name in cls.__annotations__ if not name.startswith("_")]
        cls.field_defaults = {**cls.field_defaults, **{name: cls.__dict__.get(name, _REQUIRED) for name in names}}

    def __init__(self, **fields: Any) -> None:
        kind, defaults = type(self).__name__, self.field_defaults
        if unknown := [name for name in fields if name not in defaults]:
            raise TypeError(f"{kind} has no field {unknown[0]!r}; it has {', '.join(defaults)}.")
        values = {**defaults, **fields}
        if missing := [name for name, value in values.items() if value is _REQUIRED]:
            raise TypeError(f"{kind} needs {', '.join(missing)}.")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be set.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


# What each event is told.


class HookInput(HookRecord):
    """What every event is told. `extra` holds the fields that this version does not know."""

    session_id: str
    transcript_path: str
    cwd: str
    hook_event_name: str
    timestamp: str
    extra: Mapping[str, Any] = {}


class SessionStartInput(HookInput):
    """A session began."""

    source: Literal["startup", "resume", "clear"]


class SessionEndInput(HookInput):
    """A session ended."""

    reason: Literal["exit", "clear", "logout", "prompt_input_exit", "other"]


class BeforeAgentInput(HookInput):
    """The person said something, and the agent has not begun."""

    prompt: str


class AfterAgentInput(HookInput):
    """The agent is done. `stop_hook_active` says that a hook sent it round once already."""

    prompt: str
    prompt_response: str
    stop_hook_active: bool


class BeforeModelInput(HookInput):
    """A model is about to be asked."""

    llm_request: LLMRequest


class BeforeToolSelectionInput(HookInput):
    """A model is about to choose its tools."""

    llm_request: LLMRequest


class AfterModelInput(HookInput):
    """A piece of a model's answer came: once for every piece of a stream."""

    llm_request: LLMRequest
    llm_response: LLMResponse


class BeforeToolInput(HookInput):
    """A tool is about to run."""

    tool_name: str
    tool_input: dict[str, Any]
    mcp_context: McpContext | None = None
    original_request_name: str | None = None


class AfterToolInput(HookInput):
    """A tool ran."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_response: HookToolResponse
    mcp_context: McpContext | None = None
    original_request_name: str | None = None


class PreCompressInput(HookInput):
    """The conversation is about to be shortened."""

    trigger: Literal["auto", "manual"]


class NotificationInput(HookInput):
    """The person is about to be asked something."""

    notification_type: str
    message: str
    details: dict[str, Any]


# What each event may answer.

_TOP = {"stop_reason": "stopReason", "system_message": "systemMessage", "decision": "decision", "reason": "reason"}
SPECIFIC = {
    "additional_context": "additionalContext",
    "clear_context": "clearContext",
    "llm_request": "llm_request",
    "llm_response": "llm_response",
    "tool_input": "tool_input",
    "tool_config": "toolConfig",
    "tail_tool_call": "tailToolCallRequest",
}


class HookOutput(HookRecord):
    """What every event may answer: a message for the person."""

    system_message: str | None = None
    suppress_output: bool = False

    def to_json(self, event_name: str) -> dict[str, Any]:
        """The answer as the CLI reads it."""
        fields = self.__dict__
        answer: dict[str, Any] = {key: fields[name] for name, key in _TOP.items() if fields.get(name) not in (None, "")}
        if fields.get("stop"):
            answer["continue"] = False
        if fields["suppress_output"]:
            answer["suppressOutput"] = True
        specific = {key: fields[name] for name, key in SPECIFIC.items() if fields.get(name) not in (None, False)}
        if specific:
            answer["hookSpecificOutput"] = {"hookEventName": event_name, **specific}
        return answer


class StoppingOutput(HookOutput):
    """An answer that may refuse (`decision`, told to the model) or end the turn (`stop`, told to the person)."""

    decision: Literal["allow", "deny"] | None = None
    reason: str | None = None
    stop: bool = False
    stop_reason: str | None = None


class SessionStartOutput(HookOutput):
    """May add to what the model knows."""

    additional_context: str | None = None


class SessionEndOutput(HookOutput):
    """May say something."""


class BeforeAgentOutput(StoppingOutput):
    """`deny` drops the prompt, `stop` keeps it and ends the turn; context is added to the prompt."""

    additional_context: str | None = None


class AfterAgentOutput(StoppingOutput):
    """`deny` sends `reason` to the agent as the next prompt; `clear_context` starts the conversation over."""

    clear_context: bool = False


class BeforeModelOutput(StoppingOutput):
    """Changes what the model is asked, or answers in its place."""

    llm_request: LLMRequest | None = None
    llm_response: LLMResponse | None = None


class BeforeToolSelectionOutput(HookOutput):
    """Says which tools the model may call."""

    tool_config: ToolConfig | None = None


class AfterModelOutput(StoppingOutput):
    """Takes the place of this piece of the answer."""

    llm_response: LLMResponse | None = None


class BeforeToolOutput(HookOutput):
    """Refuses the call, asks the person, or changes the arguments; what is left out of `tool_input` stays."""

    decision: Literal["allow", "deny", "ask"] | None = None
    reason: str | None = None
    stop: bool = False
    stop_reason: str | None = None
    tool_input: dict[str, Any] | None = None


class AfterToolOutput(StoppingOutput):
    """`deny` hides the result; context is added to it; another tool may run in its place."""

    additional_context: str | None = None
    tail_tool_call: TailToolCall | None = None


class PreCompressOutput(HookOutput):
    """May say something."""


class NotificationOutput(HookOutput):
    """May say something; it cannot answer in the person's place."""


WORDS: dict[str, tuple[type[HookInput], type[HookOutput]]] = {
    "SessionStart": (SessionStartInput, SessionStartOutput),
    "SessionEnd": (SessionEndInput, SessionEndOutput),
    "BeforeAgent": (BeforeAgentInput, BeforeAgentOutput),
    "AfterAgent": (AfterAgentInput, AfterAgentOutput),
    "BeforeModel": (BeforeModelInput, BeforeModelOutput),
    "AfterModel": (AfterModelInput, AfterModelOutput),
    "BeforeToolSelection": (BeforeToolSelectionInput, BeforeToolSelectionOutput),
    "BeforeTool": (BeforeToolInput, BeforeToolOutput),
    "AfterTool": (AfterToolInput, AfterToolOutput),
    "PreCompress": (PreCompressInput, PreCompressOutput),
    "Notification": (NotificationInput, NotificationOutput),
}

# Only these events look at a matcher: tool events as a pattern for the tool's name, the others word for word.
MATCHED_FIELDS = {
    "BeforeTool": "tool_name",
    "AfterTool": "tool_name",
    "SessionStart": "source",
    "SessionEnd": "reason",
    "PreCompress": "trigger",
}


def matcher_problem(event_name: str, matcher: str | None) -> str:
    """What is wrong with a matcher; empty when nothing is."""
    if not matcher or matcher.strip() == "*" or MATCHED_FIELDS.get(event_name) != "tool_name":
        return ""
    import re

    try:
        re.compile(matcher.strip())
    except re.error as error:
        return f"its pattern {matcher!r} is none ({error})."
    return ""


_KINDS: dict[str, type | tuple[type, ...]] = {"str": str, "bool": bool, "dict[str, Any]": dict}


def input_of(event_name: str, payload: Mapping[str, Any]) -> HookInput:
    """What an event is told, checked. Raises ValueError with a sentence when a field is missing or of another kind."""
    kind = WORDS[event_name][0]
    known = {name: payload[name] for name in kind.field_defaults if name in payload and name != "extra"}
    for name, value in known.items():
        annotation = _annotation(kind, name)
        wanted = _KINDS.get(annotation) or (str if annotation.startswith("Literal") else None)
        if annotation.startswith("LLM") or annotation == "HookToolResponse":
            wanted = dict
        if wanted is not None and not isinstance(value, wanted):
            raise ValueError(f"{event_name}: {name} should be {annotation}, and is {type(value).__name__}.")
    extra = {name: value for name, value in payload.items() if name not in kind.field_defaults}
    try:
        return kind(**known, extra=extra)
    except TypeError as error:
        raise ValueError(f"{event_name}: {error}") from error


def _annotation(kind: type[HookInput], name: str) -> str:
    for one in kind.__mro__:
        found = getattr(one, "__annotations__", {}).get(name)
        if found is not None:
            return str(found)
    return "Any"
