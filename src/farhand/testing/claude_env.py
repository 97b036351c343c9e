"""A place for the real Claude Code: a fresh HOME, a real tmux, a fake model, and a node that can be opened again."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from struct import pack

import anyio

from farhand.drivers.wires.tmux import Pane
from farhand.testing.bun import SHORT_LIVED
from farhand.testing.cli_env import CliEnv
from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.script import ScriptedReply, use


class ClaudeEnv(CliEnv):
    """An isolated environment for Claude Code."""

    package = "claude"

    def __init__(
        self,
        folder: Path,
        server: tuple[str, ...],
        model: FakeAnthropic,
        address: str,
        programs: Path,
        bun: Mapping[str, str] = SHORT_LIVED,
    ) -> None:
        self.model = model
        self.script = model.script
        variables = {
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "sk-ant-fake-" + "0" * 60,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            # A terminal would fetch it from GitHub, with git and with ssh.
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            # What it tells its model of its own skills is nothing that a script reads.
            "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
            "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
            **bun,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }
        super().__init__(folder, folder / "home", server, programs, variables)


async def until(cli_env: CliEnv, pane: Pane, words: str, *, shown: bool = True) -> str:
    """Waits until the pane shows these words, or no longer does; the whole screen."""
    with anyio.fail_after(240):
        while (words in (screen := await cli_env.tmux.capture(pane))) is not shown:  # noqa: ASYNC110
            await anyio.sleep(0.05)
    return screen


def writes_plan(plan: str) -> Callable[[list[str]], ScriptedReply]:
    """A scripted model's step: writes the plan into the file that Claude Code named for it."""

    def write(texts: list[str]) -> ScriptedReply:
        path = re.search(r"/\S+/plans/[\w-]+\.md", "\n".join(texts))
        assert path is not None, "Claude Code named no file for a plan"
        return use("Write", file_path=path.group(), content=plan)

    return write


def red_pixel() -> bytes:
    """A PNG of one red pixel."""
    size = pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", pixel) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))
