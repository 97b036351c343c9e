"""Runs a subagent: a session of its own, within its turns and its time, whose questions go to the parent's person."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from farhand.sdk.events import Error, Finish, Notice, ToolRequest, Usage
from farhand.sdk.policies.matching import MCP_PREFIX, server_of
from farhand.sdk.protocols import Question, Reply, SessionContext, Tool, ToolResult
from farhand.sdk.subagents import Subagent

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.session import Session

LAST_WORDS = "Your limit of turns is reached and you have no more tools. Give your final answer with what you know."


async def run_subagent(one: Subagent, prompt: str, parent: Session) -> ToolResult:
    """Takes a task to its end, to its limit, or to its failure; the model that asked is told which."""
    import anyio

    agent = await _agent(one, prompt, parent)
    session = agent.session()
    session.become_subagent(one.name, parent)
    finish = Finish("error")
    with anyio.move_on_after(one.timeout_seconds) as limit:
        try:
            finish = await _follow(session, prompt, one, parent)
            if finish.reason == "max_turns":
                session.remove_tools()
                finish = await _follow(session, LAST_WORDS, one, parent)
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
    if finish.reason == "stopped":
        # A hook that stops everything stops the parent too.
        parent.stop(finish.detail)
    return _result(one, finish, timed_out=limit.cancelled_caught)


def _result(one: Subagent, finish: Finish, *, timed_out: bool) -> ToolResult:
    if timed_out:
        return ToolResult(error=f"{one.name} did not finish within {one.timeout_seconds:g} seconds and was stopped.")
    if finish.reason not in ("stop", "length"):
        said = f" It had said: {finish.text}" if finish.text else ""
        return ToolResult(error=f"{one.name} ended early ({finish.reason}): {finish.detail}{said}")
    text = finish.text or "(no words)"
    return ToolResult(content=text, display=text)


async def _follow(session: Session, prompt: str, one: Subagent, parent: Session) -> Finish:
    """Runs one turn. The person sees which tools run; the tokens count for the parent's turn."""
    finish = Finish("error")
    async for event in session.send_stream(prompt):
        match event:
            case ToolRequest(name=name):
                await parent.emit(Notice(f"{one.name} uses {name}.", "subagent"))
            case Usage():
                await parent.emit(event)
            case Error(message=message, fatal=True):
                await parent.emit(Notice(f"{one.name} failed: {message}", "subagent"))
            case Finish():
                finish = event
            case _:
                pass
    return finish


async def _agent(one: Subagent, prompt: str, parent: Session) -> Agent:
    """The agent that works: the given one, or the parent with other instructions and fewer tools."""
    agent = (one.agent or parent.agent).with_changes()
    agent.max_turns = min(agent.max_turns, one.max_turns)
    if one.agent is None:
        agent.loads_additions = False
        tools = await parent.tools()
        agent.take_tools(permitted(tools.values(), one.tools))
        agent.instructions = None
        agent.extenders = ()
        agent.system_prompt = await _instructions(one, prompt, parent.context)
        if one.temperature is not None:
            agent.generation = {**agent.generation, "temperature": one.temperature}
        if one.model is not None:
            agent.use_model(one.model)
    if one.agent is None or (one.agent.asker is None and not one.agent.interactive):
        agent.asker = _Forwarding(parent) if parent.can_ask else None
        agent.interactive = False
    return agent


async def _instructions(one: Subagent, prompt: str, context: SessionContext) -> str:
    said = one.instructions(prompt, context) if callable(one.instructions) else one.instructions
    return str(await said if inspect.isawaitable(said) else said or "")


def permitted(tools: Iterable[Tool], wanted: tuple[str, ...] | None) -> list[Tool]:
    """Those of the tools that a subagent may use. It never hands a task on."""
    return [tool for tool in tools if tool.name != "invoke_agent" and _names(wanted, tool)]


def _names(wanted: tuple[str, ...] | None, tool: Tool) -> bool:
    if wanted is None or "*" in wanted or tool.name in wanted:
        return True
    server = getattr(tool, "server_name", None) or server_of(tool.name)
    return server is not None and (f"{MCP_PREFIX}*" in wanted or f"{MCP_PREFIX}{server}_*" in wanted)


class _Forwarding:
    """Puts a subagent's questions to the person of its parent, under ids that no other question has."""

    def __init__(self, parent: Session) -> None:
        self._parent = parent

    async def ask(self, question: Question, context: SessionContext) -> Reply:
        """Asks, and says who asks."""
        name = context.session.subagent_name
        text = f"{name}: {question.text}"
        return await self._parent.ask(replace(question, id=f"{context.session_id[:8]}-{question.id}", text=text))
