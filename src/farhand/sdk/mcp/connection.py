"""One connection to one MCP server, owned by one task from its opening to its end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, cast

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_list
from farhand.sdk.mcp.config import McpServer

if TYPE_CHECKING:
    from mcp import ClientSession

CONNECT_SECONDS = 30.0
CLOSE_SECONDS = 10.0
MOST_PAGES = 50
MOST_TOOLS = 500


class McpGone(SdkError):
    """The server is not there, or not any more."""

    kind = "mcp_gone"


class McpConnection:
    """A server that was reached: its tools, its instructions, calls to it."""

    def __init__(self, server: McpServer, environ: Mapping[str, str]) -> None:
        self.server = server
        self.tools: list[Any] = []
        self.instructions = ""
        self.gone = ""
        self._environ = environ
        self._session: ClientSession | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None

    async def open(self, seconds: float = CONNECT_SECONDS) -> None:
        """Reaches the server and learns its tools. Raises McpGone with a sentence."""
        self._owner = asyncio.create_task(self._own(), name=f"mcp {self.server.name}")
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait([waiting, self._owner], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not self._ready.is_set():
            self.gone = self.gone or f"it did not answer within {seconds:g} seconds"
            await self.close()
            raise McpGone(f"MCP server '{self.server.name}' was not reached: {self.gone}.")

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The server's answer to a call. Raises SdkError with its sentence, McpGone when nobody is there."""
        session = self._session
        if session is None or self.gone:
            raise McpGone(f"MCP server '{self.server.name}' is gone: {self.gone or 'it was closed'}.")
        calling = asyncio.ensure_future(_call(session, tool, arguments, self.server.timeout_seconds))
        try:
            await asyncio.wait([calling, *([self._owner] if self._owner else [])], return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                return self._checked(calling)
            raise McpGone(f"MCP server '{self.server.name}' is gone: {self._why()}.")
        finally:
            calling.cancel()

    def _why(self) -> str:
        return self.gone or "it hung up"

    def _checked(self, calling: asyncio.Future[Any]) -> Any:
        import anyio
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        error = calling.exception()
        if error is None:
            return calling.result()
        closed = isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError | OSError)
        if closed or (isinstance(error, MCPError) and error.code == CONNECTION_CLOSED):
            self.gone = _sentence(error)
            raise McpGone(f"MCP server '{self.server.name}' is gone: {self.gone}.") from error
        raise SdkError(f"MCP server '{self.server.name}': {_sentence(error)}") from error

    async def close(self) -> None:
        """Hangs up; a program that was started ends."""
        self._stop.set()
        if self._owner is not None:
            await asyncio.wait([self._owner], timeout=CLOSE_SECONDS if self._ready.is_set() else 0)
            self._owner.cancel()
            await asyncio.wait([self._owner])

    async def _own(self) -> None:
        with tempfile.TemporaryFile() as errors:
            try:
                async with self._opened(errors) as session:
                    self._session = session
                    self._ready.set()
                    await self._stop.wait()
            except Exception as error:  # noqa: BLE001 - whatever a foreign server did, it costs its own tools alone
                self.gone = _sentence(error) + _last_words(errors)
            finally:
                self._session = None

    @asynccontextmanager
    async def _opened(self, errors: IO[bytes]) -> AsyncGenerator[ClientSession]:
        from mcp import ClientSession
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

        async with AsyncExitStack() as stack:
            streams = await stack.enter_async_context(self._transport(errors))
            dispatcher = JSONRPCDispatcher(streams[0], streams[1])
            session = await stack.enter_async_context(ClientSession(dispatcher=dispatcher))
            hello = await session.initialize()
            self.instructions = hello.instructions or ""
            if hello.capabilities.tools is not None:
                self.tools = await _tools(dispatcher)
            yield session

    @asynccontextmanager
    async def _transport(self, errors: IO[bytes]) -> AsyncGenerator[Any]:
        server = self.server
        if server.transport == "stdio":
            from mcp.client.stdio import StdioServerParameters, stdio_client

            program = StdioServerParameters(
                command=server.command,
                args=list(server.arguments),
                env={**self._environ, **server.env},
                cwd=server.cwd,
                encoding_error_handler="replace",
            )
            async with stdio_client(program, errlog=errors) as streams:  # type: ignore[arg-type]
                yield streams
        elif server.transport == "http":
            from mcp.client.streamable_http import streamable_http_client
            from mcp.shared._httpx_utils import create_mcp_http_client

            async with (
                create_mcp_http_client(headers=dict(server.headers)) as client,
                streamable_http_client(server.url, http_client=client) as streams,
            ):
                yield streams
        else:
            from mcp.client.sse import sse_client

            async with sse_client(server.url, headers=dict(server.headers)) as streams:
                yield streams


async def _call(session: ClientSession, tool: str, arguments: dict[str, Any], seconds: float) -> Any:
    from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    return await session.send_request(request, CallToolResult, seconds)


async def _tools(dispatcher: Any) -> list[Any]:
    """Every tool as it came, page by page; a server that never ends its list is cut off.

    The session's own `list_tools` would refuse the whole list for one bad tool.
    """
    tools: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await dispatcher.send_raw_request("tools/list", {"cursor": cursor} if cursor else None, {})
        listed, cursor = page.get("tools"), page.get("nextCursor")
        tools += listed if is_list(listed) else []
        if not isinstance(cursor, str) or not cursor or len(tools) >= MOST_TOOLS:
            break
    return tools[:MOST_TOOLS]


def _sentence(error: BaseException) -> str:
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        inner = cast("BaseException", inner.exceptions[0])
    return f"{type(inner).__name__}: {inner}" if str(inner) else type(inner).__name__


def _last_words(errors: IO[bytes]) -> str:
    with suppress(OSError, ValueError):
        errors.seek(0, 2)
        errors.seek(max(0, errors.tell() - 500))
        said = errors.read().decode(errors="replace").strip()
        return f" ({' '.join(said.split())[-300:]})" if said else ""
    return ""
