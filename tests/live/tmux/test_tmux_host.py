"""The end of a worker's session: it is over when its agent is, and no longer when its terminal is."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.live.tmux.typed import ENVIRONMENT, host_options

from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.death import is_over
from farhand.drivers.wires.tmux.host import TmuxHost
from farhand.model.present import Worker

pytestmark = pytest.mark.anyio
# Writes its last word when its terminal is gone, and not at once; or does not care.
WRITES = 'trap "sleep 1; echo last > said; exit 0" HUP; echo > ready; while :; do sleep 0.05; done'
STAYS = 'trap "" HUP TERM; echo > ready; while :; do sleep 0.05; done'


async def started(tmux: Tmux, folder: Path, script: str, grace_seconds: float = 60.0) -> tuple[TmuxHost, Worker, int]:
    """A host with one worker whose agent runs this script."""
    opened = TmuxHost(host_options(folder, grace_seconds), tmux)
    worker = Worker(name="ann", since=1, backend="typist", directory=str(folder))
    pane = await opened.spawn(worker, ["sh", "-c", script], {})
    with anyio.fail_after(240):
        while not (folder / "ready").exists():  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return opened, worker, pane.pid


async def test_an_ended_agent_has_written_its_last_word(tmux_server: tuple[str, ...], short_folder: Path) -> None:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        opened, worker, pid = await started(tmux, short_folder, WRITES)
        await opened.end(worker)
        assert (short_folder / "said").read_text() == "last\n"
        assert is_over(pid)
        # Once more, it is over already.
        await opened.end(worker)


async def test_an_agent_that_does_not_end_with_its_terminal_is_killed(
    tmux_server: tuple[str, ...], short_folder: Path
) -> None:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        opened, worker, pid = await started(tmux, short_folder, STAYS, grace_seconds=0.2)
        await opened.end(worker)
        assert is_over(pid)
