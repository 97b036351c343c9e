"""How soon one can type: `farhand tui` beside the Gemini CLI and Claude Code, each in a real terminal, by turns."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread

from bench.remote_agents import desk
from bench.rows import Row, beside
from bench.timing import median
from farhand.drivers.claude.launch import ClaudePaths, prepare_account
from farhand.testing.remote_targets import FARHAND
from farhand.testing.tmux import Screen

ROUNDS = 3
# What is typed into the shell, and what the screen shows when one can type to the agent.
STARTS = {
    "tui": (f"{FARHAND} tui", "Type a message"),
    "gemini": ("gemini", "Type your message"),
    "claude": ("claude --permission-mode manual", "? for shortcuts"),
}
# Signed in with a key, and nothing goes out.
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


def rows() -> Iterator[Row]:
    """Ours, with theirs as what it is measured against."""
    taken: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(ROUNDS):
        for name in STARTS:
            taken[name].append(asyncio.run(_start(name)))
    ours = median(taken["tui"]) * 1e3
    for name in ("gemini", "claude"):
        theirs = median(taken[name]) * 1e3
        note = f"{ROUNDS} starts each, by turns"
        yield beside(f"farhand tui to the first prompt, beside {name}", ours, "ms", name, theirs, 1.0, note)


async def _start(name: str) -> float:
    command, prompt = STARTS[name]
    async with desk(name, {}) as (target, screen):
        if name == "claude":
            # Its questions of a first start were answered long ago.
            given = target.cli_env.environment
            prepare_account(ClaudePaths.of(given), given, target.cli_env.project)
        if name == "gemini":
            folder = Path(target.cli_env.environment["HOME"]) / ".gemini"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "settings.json").write_text(json.dumps(GEMINI_SETTINGS))
        return await anyio.to_thread.run_sync(_typed, screen, command, prompt)


def _typed(screen: Screen, command: str, prompt: str) -> float:
    began = time.perf_counter()
    screen.type(command)
    screen.wait(lambda shown: prompt in shown, f"the prompt of {command}")
    return time.perf_counter() - began
