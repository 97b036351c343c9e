"""The client's side of ACP: any agent that speaks it, over any pair of byte streams, its updates as typed events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from farhand import __version__
from farhand.sdk.acp import words
from farhand.sdk.acp.rpc import INVALID_PARAMS, LINE_LIMIT_BYTES, METHOD_NOT_FOUND, Params, Peer, PeerGone, RpcError
from farhand.sdk.acp.streams import ByteStream
from farhand.sdk.acp.words import AcpPermission, AcpTurnEnded, Hello, SessionInfo, Update
from farhand.sdk.errors import SdkError, SessionBusy

Decides: TypeAlias = Callable[[AcpPermission], Awaitable[str]]
"""Answers a request for permission with a kind (`allow_once`, `reject_once`, …), an option's own id, or `cancelled`."""

WAITING_UPDATES = 1000
SETTLE_SECONDS = 5.0


class Files(Protocol):
    """The files that an agent may ask its client for."""

    async def read(self, path: str, line: int | None, limit: int | None) -> str: ...
    async def write(self, path: str, content: str) -> None: ...


class Terminals(Protocol):
    """The terminals that an agent may ask its client for: `call` answers `terminal/…` requests."""

    async def call(self, method: str, params: Params) -> Any: ...
    async def close(self) -> None: ...


async def nobody(permission: AcpPermission) -> str:  # noqa: ARG001
    """Says no to everything."""
    return "reject_once"


class AcpClient:
    """One connection to an agent. Used as `async with AcpClient(stream) as client`, then `initialize` first.

    `decides` answers requests for permission; without it, or when it fails, the answer is no. `files` and `terminals`
    are offered to the agent when they are given. `noise` hears of lines that are no JSON.
    """

    def __init__(
        self,
        stream: ByteStream,
        *,
        decides: Decides = nobody,
        files: Files | None = None,
        terminals: Terminals | None = None,
        aside: Callable[[str, Update], None] | None = None,
        noise: Callable[[bytes], None] | None = None,
        name: str = "farhand",
        limit: int = LINE_LIMIT_BYTES,
    ) -> None:
        self.hello = Hello(version=0)
        self._decides = decides
        self._files = files
        self._terminals = terminals
        self._aside = aside
        self._name = name
        self._sessions: dict[str, AcpSession] = {}
        self._peer = Peer(stream, self._on_request, self._on_notification, limit=limit, noise=noise)
        self._serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AcpClient:
        self._serving = asyncio.create_task(self._peer.serve(), name="acp client")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])
        if self._terminals is not None:
            await self._terminals.close()

    async def wait_closed(self) -> None:
        """Returns when the agent is gone."""
        if self._serving is not None:
            await asyncio.wait([self._serving])

    async def initialize(self) -> Hello:
        """Says hello; the answer says what the agent can."""
        files = self._files is not None
        can: Params = {"fs": {"readTextFile": files, "writeTextFile": files}, "terminal": self._terminals is not None}
        who = {"name": self._name, "version": __version__}
        params = {"protocolVersion": words.PROTOCOL_VERSION, "clientCapabilities": can, "clientInfo": who}
        self.hello = words.read_hello(await self._peer.request("initialize", params))
        if self.hello.version != words.PROTOCOL_VERSION:
            raise SdkError(
                f"The agent speaks version {self.hello.version} of ACP; this client speaks {words.PROTOCOL_VERSION}."
            )
        return self.hello

    async def authenticate(self, method: str) -> None:
        """Logs in by one of `hello.auth_methods`."""
        await self._peer.request("authenticate", {"methodId": method})

    async def new_session(self, cwd: str | Path, *, mcp_servers: Sequence[Params] = ()) -> AcpSession:
        """A new session in that folder."""
        raw = await self._peer.request("session/new", {"cwd": str(cwd), "mcpServers": list(mcp_servers)})
        name = words.fields_of(raw).get("sessionId")
        if not isinstance(name, str) or not name:
            raise SdkError("The agent opened a session without an id.")
        session = self._sessions.setdefault(name, AcpSession(self, self._peer, name))
        session.info = words.read_session(raw)
        return session

    async def load_session(self, session_id: str, cwd: str | Path, *, mcp_servers: Sequence[Params] = ()) -> AcpSession:
        """A session of the past; what the agent replays of it is in `history`."""
        if not self.hello.loads_sessions:
            raise SdkError(f"{self.hello.name or 'This agent'} cannot load sessions.")
        session = AcpSession(self, self._peer, session_id)
        self._sessions[session_id] = session
        params = {"sessionId": session_id, "cwd": str(cwd), "mcpServers": list(mcp_servers)}
        try:
            session.info = words.read_session(await self._peer.request("session/load", params))
        except BaseException:
            self._sessions.pop(session_id, None)
            raise
        await self._settle(session)
        session.history, session.waiting = session.waiting, []
        return session

    async def _settle(self, session: AcpSession) -> None:
        """Waits for the end of a replay: some agents answer first and tell the conversation afterwards."""
        before = -1
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                while before < len(session.waiting) < WAITING_UPDATES:
                    before = len(session.waiting)
                    # No agent knows this request, and its refusal comes after what was said before it.
                    with suppress(RpcError):
                        await self._peer.request("_farhand/settle", {})

    async def request(self, method: str, params: Params) -> Any:
        """Any other request, as it is."""
        return await self._peer.request(method, params)

    # What comes from the agent.

    async def _on_notification(self, method: str, params: Params) -> None:
        if method != "session/update":
            return
        name = str(params.get("sessionId", ""))
        update = words.read_update(params.get("update"))
        # An update may come before the answer that names its session.
        session = self._sessions.setdefault(name, AcpSession(self, self._peer, name))
        if not await session.on_update(update) and self._aside is not None:
            self._aside(name, update)

    async def _on_request(self, method: str, params: Params) -> Any:
        if method == "session/request_permission":
            return {"outcome": await self._permit(words.read_permission(params))}
        if method.startswith("fs/") and self._files is not None:
            return await _file(self._files, method, params)
        if method.startswith("terminal/") and self._terminals is not None:
            return await self._terminals.call(method, params)
        raise RpcError(METHOD_NOT_FOUND, f"This client has no '{method}'.")

    async def _permit(self, permission: AcpPermission) -> Params:
        session = self._sessions.setdefault(permission.session, AcpSession(self, self._peer, permission.session))
        asking = asyncio.ensure_future(self._decides(permission))
        session.asking.add(asking)
        try:
            await asyncio.wait([asking])
        finally:
            session.asking.discard(asking)
            asking.cancel()
        said = "cancelled" if asking.cancelled() else "reject_once" if asking.exception() else asking.result()
        if said == "cancelled":
            return {"outcome": "cancelled"}
        named = next((each.option_id for each in permission.options if each.option_id == said), None)
        chosen = named or words.choose(permission.options, said) or words.choose(permission.options, "reject_once")
        return {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}


async def _file(files: Files, method: str, params: Params) -> Any:
    path = params.get("path")
    if not isinstance(path, str):
        raise RpcError(INVALID_PARAMS, "A path is needed.")
    try:
        if method == "fs/read_text_file":
            line, limit = params.get("line"), params.get("limit")
            return {"content": await files.read(path, line, limit)}
        if method == "fs/write_text_file":
            await files.write(path, str(params.get("content", "")))
            return {}
    except (OSError, SdkError) as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
    raise RpcError(METHOD_NOT_FOUND, f"This client has no '{method}'.")


class AcpSession:
    """One conversation with the agent. One turn runs at a time."""

    def __init__(self, client: AcpClient, peer: Peer, session_id: str) -> None:
        self.id = session_id
        self.info = SessionInfo()
        self.history: list[Update] = []
        self.waiting: list[Update] = []
        self.asking: set[asyncio.Future[str]] = set()
        self._client = client
        self._peer = peer
        self._turn: asyncio.Queue[Update | AcpTurnEnded | Exception] | None = None

    async def on_update(self, update: Update) -> bool:
        """Takes an update; false when no turn is there that it could belong to."""
        if self._turn is None:
            if len(self.waiting) < WAITING_UPDATES:
                self.waiting.append(update)
            return False
        await self._turn.put(update)
        return True

    async def prompt(self, content: str | Sequence[Params]) -> AsyncGenerator[Update | AcpTurnEnded, None]:
        """Runs a turn and yields what the agent reports; the last is `Ended`. Leaving early cancels the turn."""
        if self._turn is not None:
            raise SessionBusy(f"Session {self.id} is in a turn. Wait for its end, or cancel it.")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        turn = self._turn = asyncio.Queue(maxsize=WAITING_UPDATES)
        asked = asyncio.create_task(self._ask(turn, blocks), name=f"prompt {self.id}")
        try:
            while True:
                event = await turn.get()
                if isinstance(event, Exception):
                    raise event
                yield event
                if isinstance(event, AcpTurnEnded):
                    return
        finally:
            self._turn = None
            await self._leave(turn, asked)

    async def _ask(self, turn: asyncio.Queue[Update | AcpTurnEnded | Exception], blocks: list[Params]) -> None:
        try:
            params = {"sessionId": self.id, "prompt": blocks}
            await turn.put(words.read_ended(await self._peer.request("session/prompt", params)))
        except SdkError as error:
            await turn.put(error)

    async def _leave(self, turn: asyncio.Queue[Update | AcpTurnEnded | Exception], asked: asyncio.Task[None]) -> None:
        if asked.done():
            return
        # The reader of the connection may be waiting for room in a queue that nobody reads any more.
        while not turn.empty():
            turn.get_nowait()
        asked.cancel()
        with suppress(PeerGone):
            await self.cancel()
        await asyncio.wait([asked])

    async def cancel(self) -> None:
        """Stops the running turn; questions that wait are answered as cancelled. The turn then ends by itself."""
        for asking in tuple(self.asking):
            asking.cancel()
        await self._peer.notify("session/cancel", {"sessionId": self.id})

    async def set_mode(self, mode: str) -> None:
        """Works in another mode from now on."""
        option = words.config_option(self.info.config, "mode")
        if option:
            await self.set_option(str(option.get("id")), mode)
        else:
            await self._peer.request("session/set_mode", {"sessionId": self.id, "modeId": mode})

    async def set_model(self, model: str) -> None:
        """Uses another model from now on: by the agent's own option, or by the older `session/set_model`."""
        option = words.config_option(self.info.config, "model")
        if option:
            await self.set_option(str(option.get("id")), model)
        else:
            await self._peer.request("session/set_model", {"sessionId": self.id, "modelId": model})

    async def set_option(self, option: str, value: Any) -> None:
        """Sets one of the agent's own options."""
        params = {"sessionId": self.id, "configId": option, "value": value}
        await self._peer.request("session/set_config_option", params)
