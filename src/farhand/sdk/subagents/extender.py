"""Offers subagents to the model: `invoke_agent`, and what each of them is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from farhand.sdk.protocols import SessionContext, Tool, ToolResult
from farhand.sdk.subagents import Subagent
from farhand.sdk.subagents.run import run_subagent

# The first agent is not counted.
DEEPEST = 4


class Subagents:
    """The subagents of one session."""

    def __init__(self, subagents: Mapping[str, Subagent]) -> None:
        self._subagents = dict(subagents)

    async def tools(self, context: SessionContext) -> Sequence[Tool]:
        """`invoke_agent`; a subagent has it for those that it brought itself, down to a depth."""
        offered = self._offered(context)
        return [InvokeAgent(offered)] if offered else []

    async def instructions(self, context: SessionContext) -> str:
        """Which subagents there are."""
        offered = self._offered(context)
        if not offered:
            return ""
        listed = [
            f"<agent><name>{escape(one.name)}</name><description>{escape(one.description)}</description></agent>"
            for one in offered.values()
        ]
        opening = (
            "# Subagents\n\nThese agents take tasks through invoke_agent. They do not see this conversation: put all "
            "that they need into the prompt."
        )
        return "\n".join([opening, "<available_agents>", *listed, "</available_agents>"])

    def _offered(self, context: SessionContext) -> dict[str, Subagent]:
        session = context.session
        if session.parent is None:
            return self._subagents
        depth, above = 1, session.parent
        while above.parent is not None:
            depth, above = depth + 1, above.parent
        return {one.name: one for one in session.agent.subagents} if depth < DEEPEST else {}

    async def close(self) -> None:
        """Nothing is held open."""


class InvokeAgent:
    """The tool by which the model hands a task to a subagent."""

    name = "invoke_agent"
    description = "Hands a task to a subagent, which works by itself and gives back what it found or did."
    kind = "other"
    # Each subagent has a limit of its own.
    timeout_seconds = None

    def __init__(self, subagents: Mapping[str, Subagent]) -> None:
        self._subagents = subagents
        names = {"type": "string", "enum": sorted(subagents), "description": "The subagent's name."}
        prompt = {"type": "string", "description": "The task, with all that the subagent needs to know."}
        self.parameters: dict[str, Any] = {
            "type": "object",
            "properties": {"agent_name": names, "prompt": prompt},
            "required": ["agent_name", "prompt"],
        }

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:
        """What the subagent said in the end."""
        one = self._subagents.get(str(arguments.get("agent_name")))
        if one is None:
            known = ", ".join(sorted(self._subagents))
            return ToolResult(error=f"There is no subagent {arguments.get('agent_name')!r}. Known: {known}.")
        prompt = arguments.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            return ToolResult(error=f"{one.name} needs a prompt.")
        return await run_subagent(one, prompt, context.session)
