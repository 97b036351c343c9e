"""The agent's side of ACP: an SDK agent that editors and other clients drive, over standard input and output."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from farhand import __version__
from farhand.sdk.acp.hosted_session import HostedSession
from farhand.sdk.acp.report import to_prompt
from farhand.sdk.acp.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Params, Peer, RpcError
from farhand.sdk.acp.streams import ByteStream, memory_pair, standard_streams
from farhand.sdk.acp.words import PROTOCOL_VERSION
from farhand.sdk.agent import Agent
from farhand.sdk.errors import NoKey, SdkError, SessionNotFound

RESOURCE_NOT_FOUND, AUTH_REQUIRED = -32002, -32000


class AcpServer:
    """Serves an agent. Every session gets a copy of it in the folder that the client names.

    Without an approver of its own the agent works in the modes default, auto_edit, plan and yolo, and without an
    asker its questions go to the client.
    """

    def __init__(self, agent: Agent, *, name: str = "farhand", title: str = "Farhand") -> None:
        self._agent = agent
        self._who = {"name": name, "title": title, "version": __version__}

    def start(self) -> None:
        """Serves standard input and output until the input ends."""
        asyncio.run(self._start())

    async def _start(self) -> None:
        async with standard_streams() as stream:
            await self.serve(stream)

    async def serve(self, stream: ByteStream) -> None:
        """Serves one client over any pair of byte streams until it hangs up."""
        await _Serving(self._agent, self._who, stream).run()

    def connect(self, on_message: Callable[[dict[str, Any]], Any]) -> AcpConnection:
        """A client in this process: messages go in with `send`, what the agent says comes to `on_message`."""
        return AcpConnection(self, on_message)


class AcpConnection:
    """A client in the same process. It is open from the first `send` to `close`, or used with `async with`."""

    def __init__(self, server: AcpServer, on_message: Callable[[dict[str, Any]], Any]) -> None:
        self._server = server
        self._on_message = on_message
        self._near, self._far = memory_pair()
        self._tasks: list[asyncio.Task[None]] = []

    async def send(self, message: dict[str, Any]) -> None:
        """Sends one message of the protocol, such as a `session/prompt` request; `jsonrpc` is added if it lacks."""
        self._open()
        await self._near.send(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def _open(self) -> None:
        if not self._tasks:
            serving, reading = self._server.serve(self._far), self._read()
            self._tasks = [asyncio.create_task(each, name="acp connection") for each in (serving, reading)]

    async def _read(self) -> None:
        # Every message of a peer is one line and one send.
        while line := await self._near.receive():
            handled = self._on_message(msgspec.json.decode(line))
            if inspect.isawaitable(handled):
                await handled

    async def close(self) -> None:
        """Hangs up; a running turn ends."""
        await self._near.close()
        if self._tasks:
            await asyncio.wait(self._tasks)
            for task in self._tasks:
                task.result()
        self._tasks = []

    async def __aenter__(self) -> AcpConnection:
        self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Serving:
    """One client and its sessions."""

    def __init__(self, agent: Agent, who: dict[str, str], stream: ByteStream) -> None:
        self._agent = agent
        self._who = who
        self._peer = Peer(stream, self._on_request, self._on_notification, complains=True)
        self._sessions: dict[str, HostedSession] = {}
        self._methods = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/close": self._close,
        }

    async def run(self) -> None:
        try:
            await self._peer.serve()
        finally:
            for session in self._sessions.values():
                await session.close()

    async def _on_request(self, method: str, params: Params) -> Any:
        if method not in self._methods:
            raise RpcError(METHOD_NOT_FOUND, f"This agent has no '{method}'. Known: {', '.join(self._methods)}.")
        try:
            return await self._methods[method](params)
        except SessionNotFound as error:
            raise RpcError(RESOURCE_NOT_FOUND, str(error)) from error
        except NoKey as error:
            raise RpcError(AUTH_REQUIRED, str(error)) from error
        except SdkError as error:
            raise error if isinstance(error, RpcError) else RpcError(INVALID_PARAMS, str(error)) from error

    async def _on_notification(self, method: str, params: Params) -> None:
        if method == "session/cancel":
            await self._session(params).cancel()

    async def _initialize(self, params: Params) -> Params:  # noqa: ARG002
        can: Params = {
            "loadSession": self._agent.records,
            "mcpCapabilities": {"http": True, "sse": True},
            "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
            "sessionCapabilities": {"close": {}},
        }
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": can,
            "agentInfo": self._who,
            "authMethods": [],
        }

    async def _authenticate(self, params: Params) -> Params:
        raise RpcError(INVALID_PARAMS, f"There is no way to log in called {params.get('methodId')!r}.")

    async def _new(self, params: Params) -> Params:
        hosted = HostedSession(self._agent, _folder(params), self._peer, params.get("mcpServers"))
        return {"sessionId": await self._host(hosted, hosted.agent.session()), **hosted.offers()}

    async def _load(self, params: Params) -> Params:
        hosted = HostedSession(self._agent, _folder(params), self._peer, params.get("mcpServers"))
        wanted = str(params.get("sessionId", ""))
        await self._host(hosted, await hosted.agent.resume_session(wanted))
        await hosted.replay()
        return hosted.offers()

    async def _host(self, hosted: HostedSession, session: Any) -> str:
        hosted.open(session)
        previous = self._sessions.get(hosted.id)
        self._sessions[hosted.id] = hosted
        if previous is not None:
            await previous.close()
        return hosted.id

    async def _prompt(self, params: Params) -> Params:
        return await self._session(params).prompt(to_prompt(params.get("prompt")))

    async def _set_mode(self, params: Params) -> Params:
        self._session(params).set_mode(str(params.get("modeId", "")))
        return {}

    async def _set_model(self, params: Params) -> Params:
        model = params.get("modelId")
        if not isinstance(model, str) or not model:
            raise RpcError(INVALID_PARAMS, "A modelId is needed.")
        self._session(params).session.use_model(model)
        return {}

    async def _close(self, params: Params) -> Params:
        hosted = self._session(params)
        del self._sessions[hosted.id]
        await hosted.close()
        return {}

    def _session(self, params: Params) -> HostedSession:
        name = str(params.get("sessionId", ""))
        if name not in self._sessions:
            raise RpcError(RESOURCE_NOT_FOUND, f"No session '{name}' is open.")
        return self._sessions[name]


def _folder(params: Params) -> Path:
    given = params.get("cwd")
    folder = Path(given) if isinstance(given, str) else Path()
    if not folder.is_absolute() or not folder.is_dir():
        raise RpcError(INVALID_PARAMS, f"cwd must be an absolute path of a folder; it was {given!r}.")
    return folder
