"""Five conversations on a real terminal that the same tests drive from outside: our own app, and four agents' TUIs."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.cli_env import CliEnv
from farhand.testing.clis import programs
from farhand.testing.codex_env import CodexEnv, lasting_home
from farhand.testing.contracts.agent import CliScript
from farhand.testing.contracts.worker import AgentScript, WireShows
from farhand.testing.gemini_env import GeminiEnv, GeminiWorkers
from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.gemini import FakeGemini
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.responses import FakeResponses
from farhand.testing.models.script import ScriptedReply, use
from farhand.testing.opencode_env import OpenCodeEnv

FARHAND = f"{sys.executable} -m farhand"
TARGETS = ("tui", "gemini", "claude", "codex", "opencode")


class RemoteTarget(NamedTuple):
    """A program with a conversation: how it is started, what its model says, how one leaves it."""

    name: str
    command: str
    cli_env: CliEnv
    script: AgentScript
    leave: str

    def environment(self, folder: Path) -> dict[str, str]:
        """What a shell is started with in which it runs: with a prompt that can be waited for, and all files there."""
        return {
            **self.cli_env.environment,
            "PS1": "$ ",
            "FARHAND_HOME": str(folder / "farhand"),
            "TMPDIR": str(folder),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }


def _claude_shell(command: str) -> ScriptedReply:
    return use("Bash", command=command, description="Leave a file")


def _codex_shell(command: str) -> ScriptedReply:
    return use("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="to make it")


def _opencode_shell(command: str) -> ScriptedReply:
    return use("bash", command=command, description="Leave a file")


@asynccontextmanager
async def open_target(name: str, folder: Path, server: tuple[str, ...], root: Path) -> AsyncIterator[RemoteTarget]:
    """The target, its fake model serving while the context is open; its CLI is what was set up below that root."""
    async with _OPEN[name](folder, server, root) as target:
        yield target


@asynccontextmanager
async def _gemini(
    folder: Path, server: tuple[str, ...], root: Path, name: str = "gemini"
) -> AsyncIterator[RemoteTarget]:
    with FakeGemini() as model:
        cli_env = GeminiEnv(folder, server, model, programs(root))
        script = GeminiWorkers(cli_env, "gemini", "tmux")
        command = f"{FARHAND} tui" if name == "tui" else f"{FARHAND} remote -- gemini"
        yield RemoteTarget(name, command, cli_env, script, "/quit")


@asynccontextmanager
async def _tui(folder: Path, server: tuple[str, ...], root: Path) -> AsyncIterator[RemoteTarget]:
    async with _gemini(folder, server, root, "tui") as target:
        yield target


@asynccontextmanager
async def _claude(folder: Path, server: tuple[str, ...], root: Path) -> AsyncIterator[RemoteTarget]:
    model = FakeAnthropic()
    async with model.served() as address:
        cli_env = ClaudeEnv(folder, server, model, address, programs(root))
        yield _scripted("claude", cli_env, _claude_shell, "/exit")


@asynccontextmanager
async def _codex(folder: Path, server: tuple[str, ...], root: Path) -> AsyncIterator[RemoteTarget]:
    model = FakeResponses()
    async with model.served() as address:
        with lasting_home(root / ".cache" / "homes") as home:
            cli_env = CodexEnv(folder, home, server, model, address, programs(root))
            yield _scripted("codex", cli_env, _codex_shell, "/quit")


@asynccontextmanager
async def _opencode(folder: Path, server: tuple[str, ...], root: Path) -> AsyncIterator[RemoteTarget]:
    model = FakeOpenAi()
    async with model.served() as address:
        cli_env = OpenCodeEnv(folder, server, model, address, programs(root))
        yield _scripted("opencode", cli_env, _opencode_shell, "/exit")


def _scripted(name: str, cli_env: CliEnv, shell: Callable[[str], ScriptedReply], leave: str) -> RemoteTarget:
    # Nobody has it read a file here.
    script = CliScript(cli_env, f"{name}/tmux", shell, shell, WireShows(reads_with=""))
    return RemoteTarget(name, f"{FARHAND} remote -- {name}", cli_env, script, leave)


_OPEN: dict[str, Any] = {"tui": _tui, "gemini": _gemini, "claude": _claude, "codex": _codex, "opencode": _opencode}
