"""The policies of one session: its rules and its mode, asked before each tool call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farhand.sdk.policies.judge import Judge
from farhand.sdk.policies.load import load_rules
from farhand.sdk.policies.matching import Surroundings
from farhand.sdk.policies.rules import MODES, Mode, PolicyError, Rule, mode_named
from farhand.sdk.protocols import Approval, SessionContext, Tool, ToolCall

if TYPE_CHECKING:
    from farhand.sdk.session import Session


class Guard:
    """Decides on the calls of a session. `warnings` tells of rules that could not be used.

    An agent that was given neither rules nor a mode allows whatever the person's own files and settings do not forbid.
    """

    def __init__(self, session: Session, extensions: Sequence[Rule] = ()) -> None:
        agent = session.agent
        self._session = session
        configured = session.settings.granted("general.defaultApprovalMode")
        self._strict = agent.policies is not None or agent.mode is not None or isinstance(configured, str)
        self._configured, complaints = _known(configured)
        mode_named(agent.mode or self._configured)
        own = tuple(agent.policies or ())
        loaded = load_rules(session.settings, agent.home, own, extensions, defaults=self._strict)
        self.warnings = (*complaints, *loaded.complaints)
        self._judge = Judge(loaded.rules, fallback="ask" if self._strict else "allow")
        self._written = Judge([rule for rule in loaded.rules if rule.source != "default"], fallback="allow")

    @property
    def mode(self) -> Mode:
        """The mode now. One that is switched off by the settings counts as the default one."""
        mode = mode_named(self._session.agent.mode or self._configured)
        forbidden = True in self._session.settings.demanded("security.disableYoloMode")
        return "default" if mode == "yolo" and forbidden else mode

    def approve(self, call: ToolCall, tool: Tool | None, context: SessionContext) -> Approval:
        """What the rules say of a call."""
        ruling = self._judge.decide(call, self._around(tool, context))
        return Approval(ruling.decision, ruling.reason, ruling.argv)

    def permit(self, call: ToolCall, context: SessionContext) -> None:
        """Raises for what somebody's rule denies. The default rules do not count: who acts here was judged itself."""
        ruling = self._written.decide(call, replace(self._around(None, context), interactive=True))
        if ruling.decision == "deny":
            raise PolicyError(f"{call.name} is denied here: {ruling.reason or 'a rule says so.'}")

    def hides(self, tool: Tool) -> bool:
        """Whether a tool can never run now, and so need not be shown to the model."""
        return self._judge.hides(tool.name, self._around(tool, None))

    def _around(self, tool: Tool | None, context: SessionContext | None) -> Surroundings:
        session = self._session
        annotations: Any = getattr(tool, "annotations", None)
        return Surroundings(
            self.mode,
            session.can_ask,
            session.cwd,
            session.settings.trusted,
            session.subagent_name,
            tuple(sorted(annotations.items())) if isinstance(annotations, Mapping) else (),
            context,
            getattr(tool, "server_name", None),
        )


def _known(mode: object) -> tuple[str, tuple[str, ...]]:
    """The mode that the settings name; one that nobody knows is told, and the default one holds."""
    if not isinstance(mode, str):
        return "default", ()
    if mode in (*MODES, "autoEdit"):
        return mode, ()
    return "default", (
        f"general.defaultApprovalMode is {mode!r}; known are {', '.join(MODES)}. The default one holds.",
    )
