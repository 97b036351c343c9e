"""Codex's session may be found to be written elsewhere: from then on that file is followed, and no other."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from farhand.disk.watch import FolderWatcher
from farhand.drivers.codex.tmux.cursor import CodexCursor
from farhand.drivers.codex.tmux.link import CodexTmuxLink
from farhand.drivers.codex.tmux.pending import CodexQuestions
from farhand.drivers.codex.tmux.translate import CodexRolloutState
from farhand.drivers.wires.hooks.endpoint import HookArrival
from farhand.drivers.wires.tmux import Tmux

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
    spot = CodexCursor(path=str(short_folder / "old" / "rollout"), state=CodexRolloutState(session="s"))
    send, arrivals = anyio.create_memory_object_stream[HookArrival]()
    counted = Counted()
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux, counted.opened() as folders:
        pane = await tmux.start("ann", ["cat", "-"], short_folder, {})
        link = CodexTmuxLink(tmux, pane, spot, CodexQuestions(60), short_folder / "kept")
        with send, arrivals:
            async with link.at_work(arrivals, folders):
                for name in ("new", "newest"):
                    link._moved(str(short_folder / name / "rollout"), "s")
                with anyio.fail_after(20):
                    await anyio.wait_all_tasks_blocked()
                assert counted.now == {"spool", "newest"}
