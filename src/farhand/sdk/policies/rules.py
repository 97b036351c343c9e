"""The rules of policies: what they may say of a call, and how they are written in code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from farhand.sdk.errors import SdkError
from farhand.sdk.protocols import SessionContext, Tool, ToolCall

if TYPE_CHECKING:
    from typing import Unpack

Decision = Literal["allow", "ask", "deny"]
Mode = Literal["default", "auto_edit", "plan", "yolo"]
Predicate: TypeAlias = Callable[[ToolCall, "SessionContext | None"], bool]

NamedTool: TypeAlias = "str | Tool | Callable[..., Any]"

MODES: tuple[Mode, ...] = ("default", "auto_edit", "plan", "yolo")
_MODE_NAMES: dict[str, Mode] = {**{mode: mode for mode in MODES}, "autoEdit": "auto_edit"}
HARDNESS: dict[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}

TIERS = {"default": 1, "extension": 2, "workspace": 3, "user": 4, "admin": 5}
CODE_PRIORITY = 500
LARGEST_PRIORITY = 999
LONGEST_PATTERN = 2048
_NESTED_QUANTIFIER = re.compile(r"\([^)]*[*+?{].*\)[*+?{]")
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")


class PolicyError(SdkError):
    """A rule that cannot be used."""

    kind = "policy"


class RuleOptions(TypedDict, total=False):
    """What `allow`, `ask` and `deny` may look at; `rule` says what each means."""

    when: Predicate | None
    prefix: str | None
    command: str | None
    arguments: str | None
    modes: Mode | Iterable[Mode]
    priority: int
    subagent: str | None
    mcp: str | None
    annotations: Mapping[str, Any] | None
    interactive: bool | None
    redirection: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Empty fields match everything; the first rule that matches, by priority, decides.

    `priority` is the tier plus a thousandth part: 4.1 is priority 100 of the person's own tier.
    """

    decision: Decision
    tools: tuple[str, ...] = ("*",)
    priority: float = TIERS["user"] + CODE_PRIORITY / 1000
    modes: frozenset[str] = frozenset()
    prefix: str | None = None
    command: re.Pattern[str] | None = None
    arguments: re.Pattern[str] | None = None
    when: Predicate | None = None
    subagent: str | None = None
    mcp: str | None = None
    annotations: tuple[tuple[str, Any], ...] = ()
    interactive: bool | None = None
    redirection: bool = False
    reason: str = ""
    source: str = "code"
    # Tools that say they do this; none means all.
    kinds: frozenset[str] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether it looks at a call's arguments."""
        return not (self.prefix is None and self.command is None and self.arguments is None and self.when is None)


def allow(*tools: NamedTool, **options: Unpack[RuleOptions]) -> Rule:
    """Lets calls run. See `rule` for the options."""
    return rule("allow", *tools, **options)


def deny(*tools: NamedTool, **options: Unpack[RuleOptions]) -> Rule:
    """Refuses calls; `reason` is what the model is told."""
    return rule("deny", *tools, **options)


def ask(*tools: NamedTool, **options: Unpack[RuleOptions]) -> Rule:
    """Puts calls to a person; with nobody there to ask, they are denied."""
    return rule("ask", *tools, **options)


def rule(
    decision: Decision,
    *tools: NamedTool,
    when: Predicate | None = None,
    prefix: str | None = None,
    command: str | None = None,
    arguments: str | None = None,
    modes: Mode | Iterable[Mode] = (),
    priority: int = CODE_PRIORITY,
    subagent: str | None = None,
    mcp: str | None = None,
    annotations: Mapping[str, Any] | None = None,
    interactive: bool | None = None,
    redirection: bool = False,
    reason: str = "",
) -> Rule:
    """A rule in code, in the person's tier. `tools` are names, patterns (`*`, `mcp_*`, `mcp_<server>_*`) or tools.

    `when` is a predicate of the call and the context; `prefix` and `command` (a pattern) look at the start of a shell
    command, `arguments` is a pattern that is searched in the arguments as JSON with sorted keys.
    """
    return Rule(
        decision,
        tuple(_tool_name(tool) for tool in tools) or ("*",),
        final_priority("user", priority),
        frozenset(mode_named(mode) for mode in ([modes] if isinstance(modes, str) else modes)),
        prefix,
        None if command is None else command_pattern(command, decision),
        None if arguments is None else pattern(arguments),
        when,
        subagent,
        mcp,
        tuple(sorted((annotations or {}).items())),
        interactive,
        redirection,
        reason,
    )


def final_priority(tier: str, priority: int) -> float:
    """The tier and the priority in one number."""
    if not 0 <= priority <= LARGEST_PRIORITY:
        raise PolicyError(f"The priority of a rule is 0 to {LARGEST_PRIORITY}; this one has {priority}.")
    return TIERS[tier] + priority / 1000


def mode_named(name: str) -> Mode:
    """A mode by our name or the CLI's."""
    if name not in _MODE_NAMES:
        raise PolicyError(f"There is no mode {name!r}. Known: {', '.join(MODES)}.")
    return _MODE_NAMES[name]


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression of a rule. One that could take for ever is refused."""
    if len(text) > LONGEST_PATTERN or _NESTED_QUANTIFIER.search(text):
        raise PolicyError(f"The pattern {text[:80]!r} could take for ever: it is too long, or repeats a repetition.")
    try:
        return re.compile(_NAMED_GROUP.sub("(?P<", text), re.ASCII)
    except re.error as error:
        raise PolicyError(f"The pattern {text[:80]!r} cannot be used: {error}.") from error


def command_pattern(text: str, decision: Decision) -> re.Pattern[str]:
    """A pattern of shell commands, matched from `"command":"` on.

    The CLI lets the second half of `a|b` match anywhere. So does a rule that asks or denies; one that allows may not.
    """
    pattern(text)
    return pattern(f'"command":"(?:{text})' if decision == "allow" else f'"command":"{text}')


def _tool_name(tool: NamedTool) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str) or not name:
        raise PolicyError(f"A rule needs the name of a tool, or '*' for all; it was given {tool!r}.")
    return name
