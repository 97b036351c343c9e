"""Whose word counts before a tool call runs: an agent's rules, mode and approver, and those of the agents above it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk import wire
from farhand.sdk.events import Notice
from farhand.sdk.protocols import Approval, Question, Tool, ToolCall, as_approval

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.policies.guard import Guard
    from farhand.sdk.session import Session
    from farhand.sdk.settings import AgentSettings

_GUARDING_SETTINGS = (
    "general.defaultApprovalMode",
    "tools.exclude",
    "tools.allowed",
    "tools.core",
    "tools.confirmationRequired",
    "mcp.excluded",
    "mcp.allowed",
    "policyPaths",
    "adminPolicyPaths",
)
_SYSTEM_FOLDERS = (Path("/etc/gemini-cli/policies"), Path("/Library/Application Support/GeminiCli/policies"))


@dataclass(frozen=True, slots=True, eq=False)
class Authority:
    """One agent's say over the calls of its own session and of every subagent below it."""

    session: Session
    guard: Guard | None

    async def verdict(self, call: ToolCall, tool: Tool | None, acting: Session) -> Approval:
        """What its policies and its approver say to a call: the harder of the two counts."""
        ruled = self.guard.approve(call, tool, acting) if self.guard is not None else Approval("allow")
        if self.session.agent.approver is None or ruled.decision == "deny":
            return ruled
        said = await self._ask_approver(call, acting)
        return ruled if said.decision == "allow" else said

    async def _ask_approver(self, call: ToolCall, acting: Session) -> Approval:
        approver: Any = self.session.agent.approver
        decide = approver.approve if hasattr(approver, "approve") else approver
        try:
            verdict = decide(call, acting.context)
            return as_approval(await verdict if inspect.isawaitable(verdict) else verdict)
        except Exception as error:  # noqa: BLE001 - an approver is foreign code, and a broken one allows nothing
            return Approval("deny", f"the approver failed: {type(error).__name__}: {error}")


def authorities_of(session: Session) -> tuple[Authority, ...]:
    """A session's own, then those of the agents above it. A subagent made of instructions has its parent's alone."""
    above = session.parent.authorities if session.parent is not None else ()
    if session.is_borrowed:
        return above
    return (Authority(session, _load_guard(session)), *above)


def _load_guard(session: Session) -> Guard | None:
    """What the policies decide; None when there are none, so that their engine is not loaded."""
    if not _is_guarded(session.agent, session.settings) and not session.additions.rules:
        return None
    from farhand.sdk.policies.guard import Guard

    return Guard(session, session.additions.rules)


def _is_guarded(agent: Agent, settings: AgentSettings) -> bool:
    """Whether the agent, the settings or the folders of policies say anything."""
    if agent.policies is not None or agent.mode is not None:
        return True
    if not agent.loads:
        return False
    if any(settings.get(path) is not None for path in _GUARDING_SETTINGS):
        return True
    return any(folder.is_dir() for folder in (agent.home / ".gemini" / "policies", *_SYSTEM_FOLDERS))


async def admit(call: ToolCall, tool: Tool | None, session: Session, hook_asks: str | None = None) -> Approval:
    """Whether a call may run: every authority must agree, and each person who is to be asked is asked once.

    `hook_asks` is why a hook wants a person's word, also where nobody else does."""
    from farhand.sdk.structured_output import Structured

    if isinstance(tool, Structured):
        return Approval("allow")
    agreed: list[Session] = []
    argv: tuple[str, ...] = ()
    for authority in session.authorities:
        verdict = await authority.verdict(call, tool, session)
        if verdict.decision == "ask" and authority.session.person not in agreed:
            verdict = await _put_to_person(call, tool, verdict, session, authority.session)
            agreed.append(authority.session.person)
        if verdict.decision == "deny":
            return verdict
        argv = argv or verdict.argv
    if hook_asks is not None and not agreed:
        verdict = await _put_to_person(call, tool, Approval("ask", hook_asks), session, session)
        return replace(verdict, argv=argv)
    return Approval("allow", argv=argv)


def permit(call: ToolCall, session: Session) -> None:
    """Raises PolicyError for what a rule or a mode denies to a tool or hook that acts by itself."""
    for authority in session.authorities:
        if authority.guard is not None:
            authority.guard.permit(call, session)


def hides(tool: Tool, session: Session) -> bool:
    """Whether a tool can never run now, and so need not be shown to the model."""
    return any(each.guard is not None and each.guard.hides(tool, session) for each in session.authorities)


def warnings_of(authorities: Sequence[Authority], session: Session) -> list[str]:
    """What is wrong with a session's own rules, and which of its own tools nobody could ever permit."""
    own = [each.guard for each in authorities if each.session is session and each.guard is not None]
    return [warning for guard in own for warning in (*guard.warnings, *guard.unreachable(session.agent.own_tools))]


async def _put_to_person(
    call: ToolCall, tool: Tool | None, verdict: Approval, acting: Session, asked: Session
) -> Approval:
    text = verdict.reason or f"May {call.name} run with {wire.compact(call.arguments)}?"
    if acting.hooks.listens("Notification", None):
        details = _details(call, tool.kind if tool is not None else "other")
        fields = {"notification_type": "ToolPermission", "message": text, "details": details}
        outcome = await acting.hooks.fire("Notification", fields, acting.context)
        if outcome.system_message and not outcome.suppress_output:
            await acting.emit(Notice(outcome.system_message, "Notification"))
    question = Question(f"permission-{call.id}", "permission", text, ("allow", "deny"), call, reason=verdict.reason)
    reply = await asked.ask(question if asked is acting else from_subagent(question, acting))
    if reply.allows:
        return Approval("allow")
    if not reply.answered:
        return Approval("deny", "it needs a person's permission and nobody is there to ask.")
    return Approval("deny", reply.text or "the person said no.")


def from_subagent(question: Question, acting: Session) -> Question:
    """A subagent's question as its parent's person reads it: who asks, under an id that no other question has."""
    return replace(
        question,
        id=f"{acting.id[:8]}-{question.id}",
        text=f"{acting.subagent_name}: {question.text}",
        subagent=question.subagent or acting.subagent_name,
    )


def _details(call: ToolCall, kind: str) -> dict[str, Any]:
    """What a Notification hook is told of a call, in the CLI's words."""
    arguments = call.arguments
    if kind == "execute":
        command = str(arguments.get("command", ""))
        root = command.split(maxsplit=1)[0] if command.split() else ""
        return {"type": "exec", "title": "Confirm Shell Command", "command": command, "rootCommand": root}
    if kind == "edit":
        path = str(arguments.get("file_path", ""))
        name = path.replace("\\", "/").rpartition("/")[2]
        new = arguments.get("content", arguments.get("new_string", ""))
        return {"type": "edit", "title": "Confirm Edit", "fileName": name, "filePath": path, "newContent": new}
    return {"type": "info", "title": f"Confirm {call.name}", "prompt": wire.compact(arguments)}
