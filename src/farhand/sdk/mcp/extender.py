"""The MCP servers of an agent: reached when the first turn needs tools, side by side, and gone with the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from farhand.sdk.environment import MODEL_KEYS
from farhand.sdk.events import Notice
from farhand.sdk.mcp.config import McpServer, read_server
from farhand.sdk.mcp.connection import CONNECT_SECONDS, McpConnection, McpGone
from farhand.sdk.mcp.tool import McpTool, make_tool
from farhand.sdk.protocols import SessionContext

MISSING = "MCP servers are configured, and farhand is installed without them: pip install 'farhand[mcp]'."
MOST_RECONNECTS = 3
# What a program needs to run at all; everything else a server must name in its `env`.
PASSED_ON = ("HOME", "PATH", "LANG", "LC_ALL", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER")


class McpServers:
    """An extender. Servers that cannot be reached are told and left out; one that dies is started again, thrice."""

    def __init__(
        self,
        servers: Sequence[McpServer] | Mapping[str, Any],
        *,
        problems: Sequence[str] = (),
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        if isinstance(servers, Mapping):
            servers = [read_server(name, raw) for name, raw in servers.items()]
        self.servers = tuple(servers)
        self._problems = list(problems)
        self._connect_seconds = connect_seconds
        self._connections: dict[str, McpConnection] | None = None
        self._reconnects: dict[str, int] = {}
        self._opening = asyncio.Lock()

    async def tools(self, context: SessionContext) -> list[McpTool]:
        """The tools that are wanted, of every server that is there."""
        async with self._opening:
            if self._connections is None:
                self._connections = {}
                await self._open(self.servers, context)
            else:
                await self._reconnect(context)
        found: dict[str, McpTool] = {}
        for connection in self._connections.values():
            for listed in connection.tools:
                made = make_tool(connection, listed)
                if isinstance(made, str):
                    self._problems.append(made)
                elif connection.server.offers(made.server_tool_name) and made.name not in found:
                    found[made.name] = made
            # Said once: the list of a living connection does not change.
            connection.tools = [each for each in connection.tools if not isinstance(make_tool(connection, each), str)]
        await self._emit_problems(context)
        return list(found.values())

    async def instructions(self, context: SessionContext) -> str:  # noqa: ARG002
        """What the servers say about themselves, in the CLI's frame."""
        texts = [
            f"The following are instructions provided by the tool server '{name}':\n"
            f"---[start of server instructions]---\n{connection.instructions}\n---[end of server instructions]---"
            for name, connection in (self._connections or {}).items()
            if connection.instructions
        ]
        return "\n\n".join(texts)

    async def close(self) -> None:
        """Closes every connection. The next turn connects again."""
        connections, self._connections = self._connections or {}, None
        self._reconnects = {}
        await asyncio.gather(*(each.close() for each in connections.values()))

    async def _open(self, servers: Sequence[McpServer], context: SessionContext) -> None:
        if servers and find_spec("mcp") is None:
            self._problems.append(MISSING)
            return
        environ = _environment(context)
        opened = await asyncio.gather(*(self._connect(each, environ) for each in servers))
        connections = self._connections if self._connections is not None else {}
        connections.update({each.server.name: each for each in opened if each is not None})

    async def _connect(self, server: McpServer, environ: Mapping[str, str]) -> McpConnection | None:
        connection = McpConnection(server, environ)
        try:
            await connection.open(self._connect_seconds)
        except McpGone as gone:
            self._problems.append(str(gone))
            return None
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _reconnect(self, context: SessionContext) -> None:
        dead = [each for each in (self._connections or {}).values() if each.gone]
        for connection in dead:
            name = connection.server.name
            self._reconnects[name] = self._reconnects.get(name, 0) + 1
            await connection.close()
            (self._connections or {}).pop(name, None)
            if self._reconnects[name] > MOST_RECONNECTS:
                self._problems.append(f"MCP server '{name}' died again and again: its tools are left out.")
            else:
                self._problems.append(f"MCP server '{name}' was gone ({connection.gone}) and is started again.")
                await self._open([connection.server], context)

    async def _emit_problems(self, context: SessionContext) -> None:
        problems, self._problems = self._problems, []
        for problem in problems:
            await context.session.emit(Notice(problem, "mcp"))


def _environment(context: SessionContext) -> dict[str, str]:
    own = context.session.environ
    return {name: own[name] for name in PASSED_ON if name in own and name not in MODEL_KEYS}
