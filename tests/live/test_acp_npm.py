"""Our ACP server, driven by the client of npm's @agentclientprotocol/sdk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from farhand.testing.models.gemini import FakeGemini, calls, held, says

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / ".cache/npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js"
EDITOR = Path(__file__).with_name("acp_editor.mjs")
AGENT = ROOT / "tests/sdk/acp_agent.py"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not LIBRARY.exists(), reason="the ACP client is not installed: sh scripts/setup-tests.sh"),
]


@pytest.mark.parametrize(("kind", "written"), [("allow_once", True), ("reject_once", False)])
async def test_a_permission_a_cancel_and_a_mode(tmp_path: Path, kind: str, written: bool) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    gate = threading.Event()
    with FakeGemini() as fake:
        fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("So be it."))
        fake.expect(held(gate, "One, ", "two.", before=1), says("Bye."), prompt="count")
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GEMINI_MODEL": "gemini-2.5-flash"}

        def run() -> subprocess.CompletedProcess[str]:
            command = ["node", str(EDITOR), str(LIBRARY), str(project), kind, sys.executable, str(AGENT)]
            return subprocess.run(
                command,
                env={**environ, **fake.environ()},
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

        ended = await anyio.to_thread.run_sync(run)
        gate.set()
    assert ended.returncode == 0, ended.stderr
    lines: list[dict[str, Any]] = [json.loads(line) for line in ended.stdout.splitlines()]
    told = {name: [line[name] for line in lines if name in line] for line in lines for name in line}
    assert told["hello"][0]["agentInfo"]["name"] == "farhand"
    assert told["opened"][0]["modes"]["currentModeId"] == "default"
    assert told["permission"] == ["write_file: new.txt"]
    assert told["kinds"] == [["allow_once", "allow_always", "reject_once"]]
    assert [each["stopReason"] for each in told["ended"]] == ["end_turn", "cancelled", "end_turn"]
    assert (project / "new.txt").exists() is written
    said = [each["content"]["text"] for each in told["update"] if each["sessionUpdate"] == "agent_message_chunk"]
    assert said == ["So be it.", "One, ", "Bye."]
