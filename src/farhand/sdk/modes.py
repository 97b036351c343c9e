"""What an agent may do without asking, by its mode."""

from __future__ import annotations

from farhand.sdk.protocols import Approval, SessionContext, ToolCall

_FREE = frozenset({"read", "search", "think"})
# ask_user is itself a question to the person.
_QUESTIONS = frozenset({"ask_user"})


class ByMode:
    """Decides by the kind of a tool: looking is free, the rest is asked for, unless the mode says otherwise."""

    def __init__(self, mode: str = "default") -> None:
        self.mode = mode

    async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
        """Whether a call may run."""
        tool = (await context.session.tools()).get(call.name)
        verdict = decide(self.mode, call.name, tool.kind if tool is not None else "other")
        # Settings may say that a whole MCP server is trusted.
        return Approval("allow") if verdict.decision == "ask" and getattr(tool, "trusted", False) else verdict


def decide(mode: str, name: str, kind: str) -> Approval:
    """The verdict on a tool of this kind."""
    if mode == "yolo" or kind in _FREE or name in _QUESTIONS:
        return Approval("allow")
    if mode == "plan":
        return Approval("deny", "the agent only plans now and changes nothing.")
    if mode == "auto_edit" and kind == "edit":
        return Approval("allow")
    return Approval("ask")
