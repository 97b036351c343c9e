"""The Stop hook as the tests run it: transcripts, its variables, and a copy that waits for nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from tests.spec.team import Team

from farhand.hooks import forward_to_bridge, send_to_telegram

HOOK = Path(send_to_telegram.__file__)
FULL = {"TMUX_PREFIX": "claude-test-", "SESSIONS_DIR": "/s", "BRIDGE_URL": "http://here/", "PORT": "1"}
QUIET: Callable[[float], None] = lambda _: None  # noqa: E731


def line(kind: str, content: Any, **more: Any) -> str:
    return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more})


def text(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": word} for word in words]


def write(folder: Path, *lines: str) -> Path:
    path = folder / "transcript.jsonl"
    path.write_text("".join(f"{one}\n" for one in lines))
    return path


async def run(environ: Mapping[str, str], payload: Any, program: Path = HOOK) -> None:
    """Runs the hook as Claude Code would; it always ends well and without a word."""
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with anyio.fail_after(240):
        done = await anyio.run_process(
            [sys.executable, "-I", "-S", str(program)],
            input=given,
            env={"PATH": os.environ["PATH"], **environ},
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def impatient(folder: Path) -> Path:
    """A copy of the hook and of its forwarder that waits for no transcript."""
    copy = folder / "send-to-telegram.py"
    copy.write_text(HOOK.read_text().replace("PAUSE_SECONDS = 0.5", "PAUSE_SECONDS = 0.0"))
    (folder / "forward-to-bridge.py").write_text(Path(forward_to_bridge.__file__).read_text())
    return copy


def variables(team: Team) -> dict[str, str]:
    """What a session of that team carries."""
    return {
        "TMUX_PREFIX": team.settings.tmux_prefix,
        "SESSIONS_DIR": str(team.settings.sessions),
        "BRIDGE_URL": team.url,
        "BRIDGE_SESSION": "ann",
    }
