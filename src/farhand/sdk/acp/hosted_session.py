"""One session of an SDK agent that an ACP client drives: its turns, its questions, its mode."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

from farhand.sdk import events
from farhand.sdk.acp.lasting_permission import lasting_permission
from farhand.sdk.acp.report import STOP_REASONS, described, replayed, update_of
from farhand.sdk.acp.rpc import INTERNAL_ERROR, INVALID_PARAMS, Params, Peer, RpcError
from farhand.sdk.agent import Agent
from farhand.sdk.errors import SessionBusy
from farhand.sdk.policies.guard import mode_of, modes_in
from farhand.sdk.protocols import Extender, Question, Reply, SessionContext, ToolCall
from farhand.sdk.session import Session

MODES = {
    "default": "Asks before it changes anything",
    "auto_edit": "Edits files without asking",
    "plan": "Looks and plans, changes nothing",
    "yolo": "Asks nothing",
}
ALLOW_ONCE = {"optionId": "allow_once", "name": "Allow", "kind": "allow_once"}
REJECT_ONCE = {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"}


class HostedSession:
    """A session in the client's folder. Questions go to the client, unless the agent brought an asker."""

    session: Session

    def __init__(self, agent: Agent, cwd: Path, peer: Peer, mcp_servers: Any = None) -> None:
        self._peer = peer
        self._has_modes = agent.approver is None or agent.mode is not None or agent.policies is not None
        self._always: set[tuple[str, ...]] = set()
        self._kinds: dict[str, str] = {}
        self._cancelled = False
        self._turn = asyncio.Lock()
        self._servers = _servers(mcp_servers)
        self.agent = agent.with_changes(
            cwd=cwd,
            asker=agent.asker or self._ask,
            interactive=False,
            extenders=(*agent.extenders, *self._servers),
        )

    @property
    def id(self) -> str:
        """The session's id, for the client as for the recording."""
        return self.session.id

    def open(self, session: Session) -> None:
        """Takes the session; a missing key is told now, before the first prompt."""
        settings = self.agent.load_settings()
        self.agent.open_model(settings)
        if self._has_modes:
            # One that was given neither rules nor a mode asks the client, who is there to be asked.
            self.agent.mode = mode_of(self.agent, settings)
        self._kinds = {name: tool.kind for name, tool in self.agent.tools_for(settings).items()}
        self.session = session

    def offers(self) -> Params:
        """The modes that the client may choose from, and the model."""
        settings = self.agent.load_settings()
        _, model = self.agent.open_model(settings)
        models = {"currentModelId": model, "availableModels": [{"modelId": model, "name": model}]}
        if not self._has_modes:
            return {"models": models}
        available = [{"id": name, "name": name, "description": MODES[name]} for name in modes_in(settings)]
        current = mode_of(self.agent, settings)
        return {"modes": {"currentModeId": current, "availableModes": available}, "models": models}

    def set_mode(self, mode: str) -> None:
        """Works in another mode from now on."""
        if not self._has_modes:
            raise RpcError(INVALID_PARAMS, "This agent decides by its own rules and has no modes.")
        known = modes_in(self.agent.load_settings())
        if mode not in known:
            raise RpcError(INVALID_PARAMS, f"There is no mode '{mode}'. Known: {', '.join(known)}.")
        self.agent.mode = mode

    async def replay(self) -> None:
        """Tells the client the conversation so far."""
        for update in replayed(self.session.restored, self._kinds, self.agent.cwd):
            await self._tell(update)

    async def prompt(self, pieces: list[Any]) -> Params:
        """Runs a turn to its end. A turn that fails is an error, with the turn's own sentence."""
        if self._turn.locked() and not self._cancelled:
            raise SessionBusy(f"Session {self.id} is in a turn. Wait for its end, or cancel it.")
        # A turn that was cancelled is given the time to end.
        async with self._turn:
            self._cancelled = False
            return await self._run(pieces)

    async def _run(self, pieces: list[Any]) -> Params:
        usage, failure, finish = events.Usage(), "", events.Finish("error")
        async with aclosing(self.session.send_stream(pieces)) as stream:
            async for event in stream:
                update = update_of(event, self._kinds, self.agent.cwd)
                if update is not None:
                    await self._tell(update)
                if isinstance(event, events.Usage):
                    usage = usage.plus(event)
                elif isinstance(event, events.Error) and event.fatal:
                    failure = event.message
                elif isinstance(event, events.Finish):
                    finish = event
        return await self._finished(finish, usage, failure)

    async def _finished(self, finish: events.Finish, usage: events.Usage, failure: str) -> Params:
        if finish.reason == "error" and not self._cancelled:
            raise RpcError(INTERNAL_ERROR, failure or finish.detail)
        if finish.reason in ("stopped", "blocked") and finish.detail:
            await self._tell(_said(finish.detail))
        counts = {
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "totalTokens": usage.total_tokens,
            "thoughtTokens": usage.thought_tokens,
            "cachedReadTokens": usage.cached_tokens,
        }
        reason = "cancelled" if self._cancelled else STOP_REASONS.get(finish.reason, "end_turn")
        return {"stopReason": reason, "usage": counts}

    async def cancel(self) -> None:
        """Stops the running turn; without one it does nothing."""
        self._cancelled = await self.session.interrupt()

    async def close(self) -> None:
        """Ends the session and what its agent holds open."""
        await self.session.close()
        for server in self._servers:
            await server.close()
        await self.agent.close_connections()

    async def _tell(self, update: Params) -> None:
        await self._peer.notify("session/update", {"sessionId": self.id, "update": update})

    # Questions.

    async def _ask(self, question: Question, context: SessionContext) -> Reply:  # noqa: ARG002
        if question.kind == "permission" and question.call is not None:
            return await self._ask_permission(question, question.call)
        if not question.choices:
            return Reply(answered=False)
        options = [{"optionId": each, "name": each, "kind": "allow_once"} for each in question.choices]
        options.append({"optionId": "__skip__", "name": "Skip", "kind": "reject_once"})
        call = {"toolCallId": question.id, "title": question.text, "kind": "other"}
        chosen = await self._request(call, options)
        if chosen not in question.choices:
            return Reply(answered=False)
        return Reply(answered=True, choice=chosen, text=chosen, chosen=(chosen,))

    async def _ask_permission(self, question: Question, call: ToolCall) -> Reply:
        lasting = lasting_permission(question, call, self.agent.cwd)
        if lasting.key in self._always:
            return Reply(answered=True, choice="allow")
        for_session = {"optionId": "allow_always", "name": lasting.words, "kind": "allow_always"}
        options = [ALLOW_ONCE, for_session, REJECT_ONCE]
        chosen = await self._request(described(call, self._kinds, self.agent.cwd), options)
        if chosen == "allow_always":
            self._always.add(lasting.key)
        return Reply(answered=True, choice="allow" if chosen in ("allow_once", "allow_always") else "deny")

    async def _request(self, call: Params, options: list[dict[str, str]]) -> str:
        """The option that the client chose; empty when it chose none, and what is no answer is none."""
        params = {"sessionId": self.id, "toolCall": {**call, "status": "pending"}, "options": options}
        answer = await self._peer.request("session/request_permission", params)
        match answer:
            case {"outcome": {"outcome": "selected", "optionId": str(chosen)}}:
                return chosen
            case _:
                return ""


def _said(text: str) -> Params:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def _servers(wanted: Any) -> tuple[Extender, ...]:
    if not wanted:
        return ()
    from farhand.sdk.mcp import McpServers, from_client

    return (McpServers(from_client(wanted)),)
