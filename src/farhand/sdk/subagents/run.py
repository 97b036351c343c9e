"""Runs a subagent: a session of its own, within its turns and its time, whose questions go to the parent's person."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farhand.sdk.current_call import current_call_id
from farhand.sdk.events import Error, Finish, Notice, SubagentEvent, ToolRequest, Usage
from farhand.sdk.policies.matching import MCP_PREFIX, server_of
from farhand.sdk.protocols import SessionContext, Tool, ToolResult
from farhand.sdk.questions import ForwardingAsker
from farhand.sdk.subagents import Subagent

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.agent_options import AgentOptions
    from farhand.sdk.session import Session

LAST_WORDS = "Your limit of turns is reached and you have no more tools. Give your final answer with what you know."


async def run_subagent(one: Subagent, prompt: str, parent: Session) -> ToolResult:
    """Takes a task to its end, to its limit, or to its failure; the model that asked is told which."""
    import anyio

    agent = await _agent(one, prompt, parent)
    session = agent.session()
    session.become_subagent(one.name, parent)
    if one.agent is None and one.model is None and parent.chosen_model is not None:
        session.use_model(parent.chosen_model)
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
    call_id = current_call_id()
    async for event in session.send_stream(prompt):
        wrapped = SubagentEvent(one.name, session.id, parent.id, call_id, event)
        await parent.emit(event if isinstance(event, SubagentEvent) else wrapped)
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
    changes: AgentOptions = {}
    if one.agent is None and one.model is not None:
        changes["model"] = one.model
    if one.agent is not None and one.agent.deps is None:
        changes["deps"] = parent.agent.deps
    agent = (one.agent or parent.agent).with_changes(**changes)
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
    if one.agent is None or (one.agent.asker is None and not one.agent.interactive):
        agent.asker = ForwardingAsker(parent) if parent.can_ask else None
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
