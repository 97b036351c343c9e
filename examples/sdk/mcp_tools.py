"""An agent with the tools of an MCP server, which is this same file started with the argument `serve`."""

# <!-- model: [{"functionCall": {"name": "mcp_maths_add", "args": {"a": 23, "b": 79}}}, {"text": "It is 102."}] -->

import asyncio
import sys

from farhand.sdk import Agent
from farhand.sdk.mcp import McpServers


def serve() -> None:
    """Offers one tool over standard input and output."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("maths")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    server.run()


async def main() -> None:
    """Asks the agent something that needs the tool."""
    servers = McpServers({"maths": {"command": sys.executable, "args": [__file__, "serve"]}})
    async with Agent(extenders=[servers]) as agent:
        print((await agent.send("what is 23 + 79?")).text)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else asyncio.run(main())
