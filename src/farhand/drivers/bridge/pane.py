"""Wakes an idle agent in its tmux pane: one line typed there begins a turn, with which its hook reads the inbox.

Only an empty input box is typed into: a prompt that somebody has half written is not sent, nor a choice made."""

from __future__ import annotations

import os
import subprocess
from enum import Enum
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.drivers.bridge.tmux_server import own_server
from farhand.drivers.wires.hooks.bridge import BridgeHooks, box_on
from farhand.model.bridge import BridgeLook
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.logger import get_logger

log = get_logger("bridge")
LINE = "You have new messages."
SECONDS = 5.0
# An Enter right after a paste is a newline to some.
PAUSE_SECONDS = 0.3
_PANE = lazy_pattern(r"%[0-9]{1,9}")
QUESTION = "#{pane_dead} #{pane_in_mode} #{pane_tty}"


class Waking(Enum):
    """What became of the attempt to wake an agent."""

    WOKEN = "woken"
    # Something is typed there, or a dialog is open.
    OCCUPIED = "occupied"
    NOT_THERE = "not there"


class PaneWaker:
    """Wakes the agent of one project; it types into an empty input box alone."""

    def __init__(self, project: Path, hooks: tuple[BridgeHooks, ...]) -> None:
        self.project = project
        self._hooks = hooks

    async def wake(self, look: BridgeLook) -> Waking:
        """Types the line into that pane, if the agent itself sits there, in that project, and nobody has typed."""
        if not _PANE.fullmatch(look.pane):
            return Waking.NOT_THERE
        socket = await anyio.to_thread.run_sync(own_server, look.agent, self.project)
        if not socket:
            return Waking.NOT_THERE
        server = ("tmux", "-S", socket)
        told = await _run(*server, "display-message", "-p", "-t", look.pane, QUESTION)
        if told is None or not await anyio.to_thread.run_sync(sits_there, told, look.agent, self.project):
            return Waking.NOT_THERE
        box = await self._box(server, look)
        # The line itself stands there when a node was killed before the Enter.
        if box not in ("", LINE):
            return Waking.OCCUPIED
        if not box and await _run(*server, "send-keys", "-t", look.pane, "-l", LINE) is None:
            return Waking.NOT_THERE
        with anyio.move_on_after(SECONDS):
            # Somebody may have typed at the same moment: that is not sent with it.
            while await self._box(server, look) != LINE:  # noqa: ASYNC110 - a screen rings no bell
                await anyio.sleep(PAUSE_SECONDS)
            await anyio.sleep(PAUSE_SECONDS)
            if await _run(*server, "send-keys", "-t", look.pane, "Enter") is not None:
                return Waking.WOKEN
        return Waking.OCCUPIED

    async def _box(self, server: tuple[str, ...], look: BridgeLook) -> str | None:
        screen = await _run(*server, "capture-pane", "-p", "-e", "-t", look.pane)
        return None if screen is None else box_on(screen, look.event, self._hooks)


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
