"""Whether a tool call may run: what the policies say, and what the agent's own approver says."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from farhand.sdk.protocols import Approval, Tool, ToolCall, as_approval

if TYPE_CHECKING:
    from farhand.sdk.session import Session


async def approve(call: ToolCall, tool: Tool | None, session: Session) -> Approval:
    """The harder of the two counts."""
    from farhand.sdk.structured import Structured

    if call.name == Structured.name:
        return Approval("allow")
    ruled = session.guard.approve(call, tool, session.context) if session.guard is not None else Approval("allow")
    if session.agent.approver is None or ruled.decision == "deny":
        return ruled
    said = await _ask_approver(call, session)
    return ruled if said.decision == "allow" else said


async def _ask_approver(call: ToolCall, session: Session) -> Approval:
    approver = session.agent.approver
    decide: Any = getattr(approver, "approve", approver)
    try:
        verdict = decide(call, session.context)
        return as_approval(await verdict if inspect.isawaitable(verdict) else verdict)
    except Exception as error:  # noqa: BLE001 - an approver is foreign code, and a broken one allows nothing
        return Approval("deny", f"the approver failed: {type(error).__name__}: {error}")
