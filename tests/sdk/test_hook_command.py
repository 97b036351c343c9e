"""`run_as_command()`: a hook as a script of its own, with the exit codes the CLI wants, and nothing heavy loaded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EVENT = {
    "session_id": "s",
    "transcript_path": "",
    "hook_event_name": "BeforeTool",
    "timestamp": "2026-11-15T19:15:34.361Z",
    "tool_name": "write_file",
    "tool_input": {"file_path": "secret.txt", "content": "x"},
}

GUARD = """
from farhand.sdk import hook
from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput

@hook("BeforeTool", "write_file")
def guard(event: BeforeToolInput) -> BeforeToolOutput | None:
    print("a line for the log")
    if "secret" in event.tool_input["file_path"]:
        return BeforeToolOutput(decision="deny", reason="Secrets stay as they are.")
    return None

guard.run_as_command()
"""


def run(folder: Path, script: str, event: dict[str, Any] | bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    path = folder / "hook.py"
    path.write_text(script)
    given = event if isinstance(event, bytes) else json.dumps({"cwd": str(folder), **event}).encode()
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *options, str(path)],
        input=given,
        capture_output=True,
        timeout=240,
        check=False,
        cwd=folder,
        env=environment,
    )


def test_an_answer_is_json_and_logs_go_elsewhere(tmp_path: Path) -> None:
    ended = run(tmp_path, GUARD, EVENT)
    assert ended.returncode == 0
    assert json.loads(ended.stdout) == {"decision": "deny", "reason": "Secrets stay as they are."}
    assert ended.stderr == b"a line for the log\n"


def test_no_answer_is_an_empty_one(tmp_path: Path) -> None:
    ended = run(tmp_path, GUARD, {**EVENT, "tool_input": {"file_path": "plain.txt"}})
    assert (ended.returncode, json.loads(ended.stdout)) == (0, {})


def test_its_own_matcher_counts(tmp_path: Path) -> None:
    ended = run(tmp_path, GUARD, {**EVENT, "tool_name": "read_file"})
    assert (ended.returncode, json.loads(ended.stdout), ended.stderr) == (0, {}, b"")


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (b"", "stdin holds no JSON"),
        (b"\xff\xfe", "stdin holds no JSON"),
        (b"[1]", "no JSON object"),
        ({**EVENT, "hook_event_name": "AfterTool"}, "is a hook for BeforeTool and was run for 'AfterTool'"),
        ({**EVENT, "tool_input": {}}, "KeyError"),
        ({**EVENT, "tool_input": 5}, "tool_input should be dict"),
    ],
)
def test_a_guard_that_breaks_blocks(tmp_path: Path, event: Any, sentence: str) -> None:
    ended = run(tmp_path, GUARD, event)
    assert ended.returncode == 2
    assert sentence in ended.stderr.decode()
    assert ended.stdout == b""


def test_another_hook_that_breaks_warns(tmp_path: Path) -> None:
    script = """
from farhand.sdk.hooks import PreCompressInput, hook

@hook("PreCompress")
def broken(event: PreCompressInput) -> None:
    raise ValueError("oops")

broken.run_as_command()
"""
    event = {**EVENT, "hook_event_name": "PreCompress", "trigger": "auto"}
    ended = run(tmp_path, script, event)
    assert (ended.returncode, ended.stderr.decode()) == (1, "Hook 'broken' failed: ValueError: oops\n")


def test_async_and_with_a_context(tmp_path: Path) -> None:
    script = """
from farhand.sdk import SessionContext, hook
from farhand.sdk.hooks import AfterToolInput, AfterToolOutput

@hook("AfterTool")
async def reformat(event: AfterToolInput, context: SessionContext) -> AfterToolOutput:
    path = event.tool_input["file_path"]
    await context.fs.write(path, (await context.fs.read(path) or "").upper())
    said = (await context.shell.exec("echo from the shell")).stdout.strip()
    spoken = [part["text"] for message in context.transcript for part in message["parts"]]
    try:
        context.session
    except RuntimeError as error:
        return AfterToolOutput(additional_context=f"{said}; {spoken}; {error}")
    raise AssertionError

reformat.run_as_command()
"""
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "chats").mkdir()
    recorded = tmp_path / "chats" / "session.jsonl"
    lines = [
        {"sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t", "kind": "main"},
        {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "hello"}]},
    ]
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    event = {
        **EVENT,
        "hook_event_name": "AfterTool",
        "tool_input": {"file_path": "a.txt"},
        "tool_response": {},
        "transcript_path": str(recorded),
    }
    ended = run(tmp_path, script, event)
    assert ended.stderr == b""
    context = json.loads(ended.stdout)["hookSpecificOutput"]["additionalContext"]
    assert context.startswith("from the shell; ['hello']; A hook that runs as a command has no session")
    assert (tmp_path / "a.txt").read_text() == "TEXT"


ROOT = Path(__file__).resolve().parents[2]


def on_the_page() -> str:
    page = (ROOT / "docs" / "sdk" / "hooks.md").read_text()
    blocks = re.findall(r"```python no-run\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.mark.parametrize("where", ["page", "examples"])
def test_the_examples_refuse_what_they_should(tmp_path: Path, where: str) -> None:
    example = ROOT / "examples" / "sdk" / "hooks" / "protect_secrets.py"
    script = on_the_page() if where == "page" else example.read_text()
    refused = run(tmp_path, script, {**EVENT, "tool_input": {"file_path": "app/.env"}})
    assert json.loads(refused.stdout) == {"decision": "deny", "reason": "Secrets stay as they are."}
    allowed = run(tmp_path, script, {**EVENT, "tool_name": "replace", "tool_input": {"file_path": "a.py"}})
    assert (allowed.returncode, json.loads(allowed.stdout)) == (0, {})


def loaded(folder: Path, script: str, event: dict[str, Any] | bytes = b"") -> set[str]:
    """The modules that a script had loaded when it ended."""
    seen = folder / "modules"
    report = f"import atexit, sys\natexit.register(lambda: open({str(seen)!r}, 'w').write('\\n'.join(sys.modules)))\n"
    run(folder, report + script, event)
    return set(seen.read_text().split())


HEAVY = {"asyncio", "anyio", "msgspec", "httpx2", "pathspec", "dataclasses", "inspect", "subprocess", "socket", "ssl"}


def test_the_command_path_loads_nothing_heavy(tmp_path: Path) -> None:
    modules = loaded(tmp_path, GUARD, EVENT)
    assert "farhand.sdk.hooks.command" in modules
    assert not modules & HEAVY
    ours = {name for name in modules if name.startswith("farhand")}
    assert ours == {
        "farhand",
        "farhand.sdk",
        "farhand.sdk.hooks",
        "farhand.sdk.hooks.command",
        "farhand.sdk.hooks.define",
        "farhand.sdk.hooks.function_answers",
        "farhand.sdk.hooks.matching",
        "farhand.sdk.hooks.words",
        "farhand.sdk.json_shapes",
    }


@pytest.mark.parametrize("name", ["Agent", "tool", "hook", "SessionContext", "ToolError"])
def test_importing_from_the_sdk_loads_nothing_heavy(tmp_path: Path, name: str) -> None:
    assert not loaded(tmp_path, f"from farhand.sdk import {name}") & (HEAVY - {"dataclasses", "inspect"})
