"""The policies of one agent: its rules and its mode, asked before each tool call of its session and its subagents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farhand.sdk.json_shapes import is_mapping
from farhand.sdk.policies.defaults import PLANS_ONLY
from farhand.sdk.policies.judge import Judge
from farhand.sdk.policies.load import load_rules
from farhand.sdk.policies.matching import Surroundings
from farhand.sdk.policies.rules import MODES, Mode, PolicyError, Rule, mode_named
from farhand.sdk.protocols import Approval, Tool, ToolCall

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.session import Session
    from farhand.sdk.settings import AgentSettings


class Guard:
    """Decides on calls. `acting` is the session whose call it is: the agent's own, or that of a subagent below it.

    An agent that was given neither rules nor a mode allows whatever the person's own files and settings do not forbid.
    `warnings` tells of rules that could not be used.
    """

    def __init__(self, session: Session, extensions: Sequence[Rule] = ()) -> None:
        agent = session.agent
        self._session = session
        configured = session.settings.granted("general.defaultApprovalMode")
        self._strict = agent.policies is not None or agent.mode is not None or isinstance(configured, str)
        _, complaints = _known(configured)
        own = tuple(agent.policies or ())
        loaded = load_rules(session.settings, agent.home, own, extensions, defaults=self._strict)
        self.warnings = (*complaints, *loaded.complaints)
        self._judge = Judge(loaded.rules, fallback="ask" if self._strict else "allow")

    def approve(self, call: ToolCall, tool: Tool | None, acting: Session) -> Approval:
        """What the rules say of a call."""
        ruling = self._judge.decide(call, self._around(tool, acting))
        where = f" It is {acting.context.plans_folder}." if ruling.reason == PLANS_ONLY else ""
        return Approval(ruling.decision, ruling.reason + where, ruling.argv)

    def permit(self, call: ToolCall, acting: Session) -> None:
        """Raises for what is denied. What would be asked is not asked: who acts here was judged itself."""
        ruling = self._judge.decide(call, replace(self._around(None, acting), interactive=True))
        if ruling.decision == "deny":
            raise PolicyError(f"{call.name} is denied here: {ruling.reason or 'a rule says so.'}")

    def hides(self, tool: Tool, acting: Session) -> bool:
        """Whether a tool can never run now, and so need not be shown to the model."""
        return self._judge.hides(tool.name, self._around(tool, acting, with_context=False))

    def unreachable(self, tools: Iterable[Tool]) -> list[str]:
        """Tells of the tools that no rule means and that nobody is there to permit."""
        if self._session.can_ask:
            return []
        found = [tool.name for tool in tools if self._is_unreachable(tool)]
        if not found:
            return []
        return [
            f"{', '.join(found)} will not run: they need a person's permission, and nobody is there to ask. "
            f'allow({found[0]!r}) permits one, and @tool(kind="read") says that it only looks.'
        ]

    def _is_unreachable(self, tool: Tool) -> bool:
        ruling = self._judge.decide(ToolCall("", tool.name, {}), self._around(tool, self._session))
        return ruling.decision == "deny" and ruling.rule is None

    def _around(self, tool: Tool | None, acting: Session, *, with_context: bool = True) -> Surroundings:
        holder = self._session
        annotations: Any = getattr(tool, "annotations", None)
        return Surroundings(
            mode_of(holder.agent, holder.settings),
            holder.can_ask,
            acting.cwd,
            holder.settings.trusted and acting.settings.trusted,
            acting.subagent_name,
            tuple(sorted(annotations.items())) if is_mapping(annotations) else (),
            acting.context if with_context else None,
            getattr(tool, "server_name", None),
            tool.kind if tool is not None else "",
        )


def mode_of(agent: Agent, settings: AgentSettings) -> Mode:
    """The mode that holds: the agent's, or the settings'. One that the settings switch off counts as the default."""
    mode = mode_named(agent.mode or _known(settings.granted("general.defaultApprovalMode"))[0])
    return mode if mode in modes_in(settings) else "default"


def modes_in(settings: AgentSettings) -> tuple[Mode, ...]:
    """The modes that may be chosen."""
    forbidden = True in settings.demanded("security.disableYoloMode")
    return tuple(mode for mode in MODES if not (forbidden and mode == "yolo"))


def _known(mode: object) -> tuple[str, tuple[str, ...]]:
    """The mode that the settings name; one that nobody knows is told, and the default one holds."""
    if not isinstance(mode, str):
        return "default", ()
    if mode in (*MODES, "autoEdit"):
        return mode, ()
    return "default", (
        f"general.defaultApprovalMode is {mode!r}; known are {', '.join(MODES)}. The default one holds.",
    )
