"""MCP servers of the settings beside the real Gemini CLI: the same tools under the same names, the same answers."""

from __future__ import annotations

import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from tests.live.test_gemini_interchange import GEMINI, ROOT, SETTINGS, House

from farhand.sdk.mcp.extender import McpServers
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]
SAFETY_SECONDS = 240.0
SERVER = {"command": sys.executable, "args": [str(ROOT / "tests" / "sdk" / "mcp_server.py"), "stdio"]}
SERVERS: dict[str, Any] = {
    "maths": {**SERVER, "includeTools": ["add(a)", "who", "fails"], "excludeTools": ["who"], "trust": True},
    "my server": {**SERVER, "includeTools": ["add"]},
    "a-server-with-a-name-that-is-much-too-long-for-the-models-api": {**SERVER, "includeTools": ["picture"]},
    "off": SERVER,
}


def told(house: House) -> list[Any]:
    return [
        part["functionResponse"]["response"]
        for content in house.fake.last["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]


async def test_names_and_answers_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The CLI waits ten minutes for its servers; on a busy machine four of them take longer than our half a minute.
    monkeypatch.setattr(McpServers, "__init__", partialmethod(McpServers.__init__, connect_seconds=SAFETY_SECONDS))
    names, answers, instructions = [], [], []
    for who in ("cli", "sdk"):
        with FakeGemini() as fake:
            house = House(tmp_path / who, fake)
            house.settings({**SETTINGS, "mcpServers": SERVERS, "mcp": {"excluded": ["off"]}})
            fake.expect(calls("mcp_maths_add", {"a": 23, "b": 79}), says("102."))
            await (house.gemini("--yolo", "-p", "add") if who == "cli" else house.agent().send("add"))
            declared = [each["name"] for tools in fake.last["tools"] for each in tools["functionDeclarations"]]
            names.append(sorted(name for name in declared if name.startswith("mcp_")))
            answers.append(told(house))
            instructions.append("Add with care." in str(fake.last))
    assert names[1] == names[0]
    assert len(names[0]) == 4
    assert answers[1] == answers[0]
    assert instructions == [True, True]
