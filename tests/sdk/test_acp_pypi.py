"""Our ACP server in a process of its own, driven by the client of PyPI's agent-client-protocol."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).with_name("acp_agent.py")


class Editor:
    """A client that notes everything, and answers permissions with one kind."""

    def __init__(self, kind: str = "allow_once") -> None:
        self.kind = kind
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.heard = anyio.Event()

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        from acp import schema  # a second of processor time, which only the worker that runs these tests spends

        self.asked.append(tool_call)
        chosen = next(each.option_id for each in options if each.kind == self.kind)
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.heard.set()

    @property
    def text(self) -> str:
        from acp import schema

        return "".join(each.content.text for each in self.updates if isinstance(each, schema.AgentMessageChunk))


@asynccontextmanager
async def editing(editor: Any, fake: FakeGemini, home: Path, project: Path) -> AsyncIterator[Any]:
    import acp

    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "GEMINI_MODEL": "gemini-2.5-flash", **fake.environ()}
    running = acp.spawn_agent_process(editor, sys.executable, str(PROGRAM), env=environ, cwd=project)
    async with running as (connection, _process):
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield connection


@pytest.mark.parametrize(("kind", "written"), [("allow_once", True), ("reject_once", False)])
async def test_a_turn_with_a_permission(fake: FakeGemini, home: Path, project: Path, kind: str, written: bool) -> None:
    import acp
    from acp import schema

    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("So be ", "it."))
    editor = Editor(kind)
    async with editing(editor, fake, home, project) as connection:
        session = await connection.new_session(cwd=str(project), mcp_servers=[])
        assert session.modes.current_mode_id == "default"
        ended = await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("make a file")])
    assert ended.stop_reason == "end_turn"
    assert ended.usage.input_tokens == 200
    assert editor.text == "So be it."
    assert editor.asked[0].title == "write_file: new.txt"
    assert isinstance(editor.asked[0].content[0], schema.FileEditToolCallContent)
    assert [type(each) for each in editor.updates[:2]] == [schema.ToolCallStart, schema.ToolCallProgress]
    assert (project / "new.txt").exists() is written


async def test_cancel_modes_and_loading(fake: FakeGemini, home: Path, project: Path) -> None:
    import acp
    from acp import schema

    gate = threading.Event()
    fake.expect(
        held(gate, "One, ", "two.", before=1),
        calls("run_shell_command", {"command": "echo stray; touch made"}),
        says("Done."),
    )
    editor = Editor()
    async with editing(editor, fake, home, project) as connection, anyio.create_task_group() as tasks:
        session = await connection.new_session(cwd=str(project), mcp_servers=[])

        async def cancel() -> None:
            await editor.heard.wait()
            await connection.cancel(session_id=session.session_id)

        tasks.start_soon(cancel)
        ended = await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("count")])
        assert ended.stop_reason == "cancelled"
        gate.set()
        await connection.set_session_mode(session_id=session.session_id, mode_id="yolo")
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("touch")])
    assert (project / "made").exists()
    assert editor.asked == []
    again = Editor()
    async with editing(again, fake, home, project) as connection:
        await connection.load_session(session_id=session.session_id, cwd=str(project), mcp_servers=[])
    assert again.text.endswith("Done.")
    assert any(isinstance(each, schema.UserMessageChunk) for each in again.updates)
