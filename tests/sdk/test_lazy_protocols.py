"""ACP is ours and light; MCP's library and Google's login are loaded when a server is reached, and not before."""

from __future__ import annotations

import pytest
from tests.sdk.test_imports import imported_by

HEAVY = {"acp", "google", "httpx2", "mcp", "mcp_types", "pydantic", "requests", "starlette"}


@pytest.mark.parametrize(
    "statement",
    [
        "from farhand.sdk.acp import AcpClient, AcpServer, LocalFiles, LocalTerminals, spawn",
        "from farhand.sdk.mcp import McpServers; McpServers({'s': {'command': 'x'}})",
        "from farhand.sdk import Agent, VertexModel; Agent(model=VertexModel('p', token='t')).session()",
        "import farhand.drivers.wires.acp.agent",
    ],
)
def test_nothing_heavy_comes_along(statement: str) -> None:
    assert not {name for name in imported_by(statement) if name.partition(".")[0] in HEAVY}
