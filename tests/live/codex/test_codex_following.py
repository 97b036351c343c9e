"""Codex's session may be found to be written elsewhere: from then on that file is followed, and no other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Never

import anyio
import pytest

from farhand.disk.watch import FolderWatcher
from farhand.drivers.codex.tmux.hooks import WORDING
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.link import CodexCli, CodexStartFile
from farhand.drivers.codex.tmux.state import CodexCursor, CodexRolloutState
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.queue import InputQueue

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}


class Counted(FolderWatcher):
    """Tells which folders somebody watches."""

    @property
    def now(self) -> set[str]:
        return {Path(key).name for key in self._users}


async def test_a_session_that_moves_before_it_is_followed_is_followed_once(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    start = CodexCursor(path=str(short_folder / "old" / "rollout-1-s.jsonl"), state=CodexRolloutState(session="s"))
    counted, queue = Counted(), InputQueue[Never]()
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux, counted.opened() as folders:
        keyboard = CodexKeyboard(tmux, await tmux.start("ann", ["cat", "-"], short_folder, {}))
        asks = HookAsks(WORDING, 60, queue, keyboard.where)
        cli = CodexCli(queue, keyboard, asks, start, CodexStartFile(short_folder / "kept"), short_folder)
        async with queue.opened(folders):
            cli.start_sources()
            for name in ("new", "newest", "../elsewhere"):
                cli.follow(str(short_folder / name / "rollout-2-s.jsonl"), "s")
            cli.follow(str(short_folder / "mine" / "notes.txt"), "s")
            with anyio.fail_after(240):
                while counted.now != {"newest"}:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
