"""Takes over a Claude Code that another bridge has started in a tmux session of its own: waits until it is idle, ends
it, and says which conversation goes on."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from farhand.disk.processes import is_below
from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.sessions import by_process
from farhand.drivers.claude.tmux.status import read_status
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.death import watched
from farhand.model.logger import get_logger

log = get_logger("claude")
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh"})
BUSY = frozenset({"busy", "waiting"})
# As long as the other bridge would have taken it for busy.
LONGEST_SECONDS = 600.0
POLL_SECONDS = 0.25
# The other bridge's hook brings the answer behind the agent's back, and tries for five seconds.
ANSWER_SECONDS = 6.0
GRACE_SECONDS = 5.0


async def take_over(tmux: Tmux, pane: Pane, places: ClaudePaths, keep: Callable[[str], None]) -> bool:
    """Hands the conversation that was open there to `keep`, then ends it there; False when something else than Claude
    Code or an idle shell runs in that session, which is left alone."""
    process = next((one for one in by_process(places) if is_below(one, pane.pid)), None)
    if process is None:
        if await tmux.told(pane, "#{pane_current_command}") not in SHELLS:
            return False
        await tmux.kill(pane)
        return True
    await _until_idle(places, process)
    session = read_status(places.status(process)).session
    keep(session)
    with watched(process) as running:
        await tmux.kill(pane)
        await running.wait_or_kill(GRACE_SECONDS)
    log.info("taken over from another bridge", pane=pane.id, session=session)
    return True


async def _until_idle(places: ClaudePaths, process: int) -> None:
    """Waits for the end of what it does, and until its answer has been brought."""
    if read_status(places.status(process)).status not in BUSY:
        return
    with anyio.move_on_after(LONGEST_SECONDS):
        while read_status(places.status(process)).status in BUSY:  # noqa: ASYNC110 - it tells nobody but its file
            await anyio.sleep(POLL_SECONDS)
    await anyio.sleep(ANSWER_SECONDS)
