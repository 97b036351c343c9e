"""Wakes an idle agent in its tmux pane: one line typed there begins a turn, with which its hook reads the inbox."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.drivers.bridge.tmux_server import own_server
from farhand.model.bridge import BridgeLook
from farhand.model.logger import get_logger

log = get_logger("bridge")
LINE = "You have new messages."
SECONDS = 5.0
# An Enter right after a paste is a newline to some.
PAUSE_SECONDS = 0.3
_PANE = re.compile(r"%[0-9]{1,9}")
QUESTION = "#{pane_dead} #{pane_in_mode} #{pane_tty}"


async def wake_pane(look: BridgeLook, project: Path) -> bool:
    """Types the line into that pane; False unless the agent itself sits there, in that project."""
    if not _PANE.fullmatch(look.pane):
        return False
    socket = await anyio.to_thread.run_sync(own_server, look.agent, project)
    if not socket:
        return False
    server = ("tmux", "-S", socket)
    told = await _run(*server, "display-message", "-p", "-t", look.pane, QUESTION)
    if told is None or not await anyio.to_thread.run_sync(sits_there, told, look.agent, project):
        return False
    if await _run(*server, "send-keys", "-t", look.pane, "-l", LINE) is None:
        return False
    await anyio.sleep(PAUSE_SECONDS)
    return await _run(*server, "send-keys", "-t", look.pane, "Enter") is not None


def sits_there(told: str, agent: int, project: Path) -> bool:
    """Whether the pane lives and shows what it runs, and the agent runs at its terminal, in that project. A shell that
    is left when the agent has ended is never typed to."""
    dead, in_mode, terminal = (*told.split(), "", "", "")[:3]
    if (dead, in_mode) != ("0", "0") or agent <= 1:
        return False
    try:
        fields = Path(f"/proc/{agent}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        is_own = Path(f"/proc/{agent}").stat().st_uid == os.getuid()
        is_in_project = Path(f"/proc/{agent}/cwd").readlink() == project
        return is_own and is_in_project and int(fields[4]) == Path(terminal).stat().st_rdev
    except (OSError, ValueError, IndexError):
        return False


async def _run(*words: str) -> str | None:
    try:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(words, check=False, stdin=subprocess.DEVNULL)
    except (OSError, TimeoutError) as error:
        log.info("pane not reached", error=type(error).__name__)
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
