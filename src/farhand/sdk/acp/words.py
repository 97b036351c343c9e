"""The words of the protocol as typed records. Foreign data is checked here; one bad block costs that block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from farhand.sdk.json_shapes import is_list, is_object

PROTOCOL_VERSION = 1
PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
RecordType = TypeVar("RecordType", bound="AcpRecord")


class AcpRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A record with the protocol's names on the wire and ours in the code."""


class AcpMode(AcpRecord, frozen=True):
    """A way of working that the agent offers."""

    id: str
    name: str = ""
    description: str | None = None


class ModelInfo(AcpRecord, frozen=True):
    """A model that the agent offers."""

    model_id: str
    name: str = ""
    description: str | None = None


class Location(AcpRecord, frozen=True):
    """A place in a file."""

    path: str
    line: int | None = None


class AcpOption(AcpRecord, frozen=True):
    """A way to answer a request for permission."""

    option_id: str
    name: str = ""
    kind: str = ""


class PlanEntry(AcpRecord, frozen=True):
    """One task of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class AcpCommand(AcpRecord, frozen=True):
    """A slash command."""

    name: str
    description: str = ""


# --- what the agent reports: updates


class Block(AcpRecord, frozen=True):
    """A piece of content: text, an image, audio or a resource; `raw` is all of it."""

    type: str
    text: str = ""
    raw: dict[str, Any] = {}


class AcpSaid(AcpRecord, frozen=True):
    """A piece of the answer; `role` is whose words it is."""

    role: Literal["agent", "user", "thought"]
    content: Block
    message_id: str = ""


class ToolProgress(AcpRecord, frozen=True):
    """A tool call, or news of one; fields that the agent did not send are None. The first news may be no `started`."""

    call: str
    started: bool = False
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[dict[str, Any], ...] | None = None
    locations: tuple[Location, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None

    @property
    def over(self) -> bool:
        """Whether the call has ended."""
        return self.status in ("completed", "failed")

    @property
    def text(self) -> str:
        """What the call shows, as text."""
        return "\n".join(_shown(each) for each in self.content or ()).strip()


class Planned(AcpRecord, frozen=True):
    """The agent's plan, whole."""

    entries: tuple[PlanEntry, ...]


class CommandsKnown(AcpRecord, frozen=True):
    """The slash commands that are there now."""

    commands: tuple[AcpCommand, ...]


class ModeChanged(AcpRecord, frozen=True):
    """The agent works in this mode now."""

    mode: str


class UsageReport(AcpRecord, frozen=True):
    """How full the context is."""

    used: int
    size: int = 0


class OtherUpdate(AcpRecord, frozen=True):
    """An update that has no word here."""

    kind: str
    raw: dict[str, Any]


Update: TypeAlias = AcpSaid | ToolProgress | Planned | CommandsKnown | ModeChanged | UsageReport | OtherUpdate


class AcpTurnEnded(AcpRecord, frozen=True):
    """The turn is over: `end_turn`, `max_tokens`, `max_turn_requests`, `refusal` or `cancelled`."""

    stop_reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    raw: dict[str, Any] = {}


class AcpPermission(AcpRecord, frozen=True):
    """The agent asks whether a tool may run."""

    session: str
    call: ToolProgress
    options: tuple[AcpOption, ...]


class SessionInfo(AcpRecord, frozen=True):
    """What the agent says of a session when it is opened."""

    modes: tuple[AcpMode, ...] = ()
    current_mode: str = ""
    models: tuple[ModelInfo, ...] = ()
    current_model: str = ""
    config: tuple[dict[str, Any], ...] = ()


class Hello(AcpRecord, frozen=True):
    """Who the agent is and what it can."""

    version: int
    name: str = ""
    agent_version: str = ""
    loads_sessions: bool = False
    images: bool = False
    audio: bool = False
    embedded: bool = False
    auth_methods: tuple[str, ...] = ()
    raw: dict[str, Any] = {}


def choose(options: Sequence[AcpOption], kind: str) -> str | None:
    """The option of that kind, by its kind and never by its place; None when it is not offered.

    A wish for less may be met by what means less still, and never by what means more: `allow_always` falls back to
    `allow_once`, either refusal to the other one; a refusal never becomes a permission.
    """
    fallbacks = {
        "allow_once": ("allow_once",),
        "allow_always": ("allow_always", "allow_once"),
        "reject_once": ("reject_once", "reject_always"),
        "reject_always": ("reject_always", "reject_once"),
    }
    for wanted in fallbacks.get(kind, ()):
        for option in options:
            if option.kind == wanted:
                return option.option_id
    return None


# --- from the wire


def fields_of(raw: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return raw if is_object(raw) else {}


def many(raw: Any, kind: type[RecordType]) -> tuple[RecordType, ...]:
    """Those of a list that can be read."""
    found: list[RecordType] = []
    for each in raw if is_list(raw) else ():
        try:
            found.append(msgspec.convert(each, kind))
        except msgspec.ValidationError:
            continue
    return tuple(found)


def read_block(raw: Any) -> Block:
    """A piece of content. Something with text in it shows that text."""
    fields = fields_of(raw)
    text = fields.get("text")
    if not isinstance(text, str):
        inner = fields_of(fields.get("resource")).get("text")
        text = inner if isinstance(inner, str) else ""
    return Block(str(fields.get("type", "")), text, fields)


def read_call(raw: Any, *, started: bool = False) -> ToolProgress:
    """News of a tool call."""
    fields = fields_of(raw)
    content, locations = fields.get("content"), fields.get("locations")
    return ToolProgress(
        call=str(fields.get("toolCallId", "")),
        started=started,
        title=_text(fields.get("title")),
        kind=_text(fields.get("kind")),
        status=_text(fields.get("status")),
        content=tuple(each for each in content if is_object(each)) if is_list(content) else None,
        locations=many(locations, Location) if is_list(locations) else None,
        raw_input=fields.get("rawInput"),
        raw_output=fields.get("rawOutput"),
    )


_ROLES: dict[str, Literal["agent", "user", "thought"]] = {
    "agent_message_chunk": "agent",
    "user_message_chunk": "user",
    "agent_thought_chunk": "thought",
}


def read_update(raw: Any) -> Update:
    """One update; what is not known comes as it is."""
    fields = fields_of(raw)
    kind = str(fields.get("sessionUpdate", ""))
    if kind in _ROLES:
        return AcpSaid(_ROLES[kind], read_block(fields.get("content")), str(fields.get("messageId") or ""))
    match kind:
        case "tool_call" | "tool_call_update":
            return read_call(fields, started=kind == "tool_call")
        case "plan":
            return Planned(many(fields.get("entries"), PlanEntry))
        case "available_commands_update":
            return CommandsKnown(many(fields.get("availableCommands"), AcpCommand))
        case "current_mode_update":
            return ModeChanged(str(fields.get("currentModeId") or ""))
        case "usage_update":
            return UsageReport(_count(fields.get("used")), _count(fields.get("size")))
        case _:
            return OtherUpdate(kind, fields)


def read_permission(params: dict[str, Any]) -> AcpPermission:
    """A request for permission."""
    options = many(params.get("options"), AcpOption)
    return AcpPermission(str(params.get("sessionId", "")), read_call(params.get("toolCall")), options)


def read_hello(raw: Any) -> Hello:
    """The answer to `initialize`."""
    fields = fields_of(raw)
    can = fields_of(fields.get("agentCapabilities"))
    prompts, who = fields_of(can.get("promptCapabilities")), fields_of(fields.get("agentInfo"))
    methods = fields.get("authMethods")
    return Hello(
        version=_count(fields.get("protocolVersion")),
        name=str(who.get("title") or who.get("name") or ""),
        agent_version=str(who.get("version") or ""),
        loads_sessions=can.get("loadSession") is True,
        images=prompts.get("image") is True,
        audio=prompts.get("audio") is True,
        embedded=prompts.get("embeddedContext") is True,
        auth_methods=tuple(
            str(each["id"]) for each in (methods if is_list(methods) else ()) if "id" in fields_of(each)
        ),
        raw=fields,
    )


def read_session(raw: Any) -> SessionInfo:
    """The answer to `session/new` and `session/load`. Options named mode and model stand in for the older fields."""
    fields = fields_of(raw)
    modes, models = fields_of(fields.get("modes")), fields_of(fields.get("models"))
    config = tuple(each for each in fields.get("configOptions") or () if is_object(each))
    mode, model = config_option(config, "mode"), config_option(config, "model")
    return SessionInfo(
        modes=many(modes.get("availableModes"), AcpMode)
        or tuple(AcpMode(value, name) for value, name in _values(mode)),
        current_mode=str(modes.get("currentModeId") or mode.get("currentValue") or ""),
        models=many(models.get("availableModels"), ModelInfo)
        or tuple(ModelInfo(value, name) for value, name in _values(model)),
        current_model=str(models.get("currentModelId") or model.get("currentValue") or ""),
        config=config,
    )


def config_option(config: Sequence[dict[str, Any]], category: str) -> dict[str, Any]:
    """The option of that category; an empty one when there is none."""
    nothing: dict[str, Any] = {}
    return next((each for each in config if category in (each.get("category"), each.get("id"))), nothing)


def _values(option: dict[str, Any]) -> list[tuple[str, str]]:
    offered = option.get("options")
    return [
        (each["value"], str(each.get("name", "")))
        for each in (offered if is_list(offered) else ())
        if is_object(each) and isinstance(each.get("value"), str)
    ]


def read_ended(raw: Any) -> AcpTurnEnded:
    """The answer to `session/prompt`. Tokens are told in `usage`, or as gemini does it, in `_meta.quota`."""
    fields = fields_of(raw)
    usage = fields_of(fields.get("usage"))
    quota = fields_of(fields_of(fields_of(fields.get("_meta")).get("quota")).get("token_count"))
    return AcpTurnEnded(
        stop_reason=str(fields.get("stopReason") or "end_turn"),
        input_tokens=_count(usage.get("inputTokens")) or _count(quota.get("input_tokens")),
        output_tokens=_count(usage.get("outputTokens")) or _count(quota.get("output_tokens")),
        raw=fields,
    )


def _text(raw: Any) -> str | None:
    return raw if isinstance(raw, str) else None


def _count(raw: Any) -> int:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else 0


def _shown(content: dict[str, Any]) -> str:
    if content.get("type") == "diff":
        return f"{content.get('path', '')}:\n{content.get('newText', '')}"
    return read_block(content.get("content", content)).text
