"""A bridged agent is woken in a tmux of the person's own; a tmux that a sandboxed worker runs is never spoken to."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from farhand.drivers.bridge.pane import LINE, PaneWaker, Waking
from farhand.drivers.bridge.tmux_server import is_outside, is_own_socket, own_server
from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.model.bridge import BridgeLook
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio
# A server that has whoever asks it for a message copy a file: a client opens files for its server.
CONFIGURED = """
set -g exit-empty off
set-hook -g after-display-message 'load-buffer {key} ; save-buffer {copy}'
"""


# What is typed to `cat` stands in the last line.
HOOKS = BridgeHooks(
    settings="", before="x", after="y", timeout=1, decision="block", read_box=lambda screen: screen.rstrip()
)


@contextmanager
def program(words: list[str]) -> Iterator[None]:
    """Something that runs meanwhile."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Place:
    """A project, a key that is not in it, and a tmux server with `cat` in the project as its agent."""

    def __init__(self, folder: Path) -> None:
        self.project, self.outside = folder / "project", folder / "outside"
        for one in (self.project, self.outside):
            one.mkdir()
        self.copy, self.configuration = self.outside / "copy", self.project / "tmux.conf"
        (self.outside / "key").write_text("the-node's-key")
        self.configuration.write_text(CONFIGURED.format(key=self.outside / "key", copy=self.copy))

    @asynccontextmanager
    async def server(self, socket: Path, *around: str) -> AsyncIterator[int]:
        """A running one; the number of its agent."""
        tmux = f"tmux -S {socket} -f {self.configuration}"
        start = f"cd {self.project} && {tmux} new-session -d -s x cat && exec sleep infinity"
        with ExitStack() as stack:
            stack.callback(subprocess.run, ["tmux", "-S", str(socket), "kill-server"], check=False)
            stack.enter_context(program([*around, "sh", "-c", start]))
            yield await self.agent()

    async def woken(self, look: BridgeLook) -> Waking:
        return await PaneWaker(self.project, (HOOKS,)).wake(look)

    async def agent(self) -> int:
        found: list[int] = []

        def look() -> bool:
            found[:] = [int(one.name) for one in Path("/proc").glob("[0-9]*") if self._is_agent(one)]
            return bool(found)

        await until(look)
        return found[0]

    def _is_agent(self, process: Path) -> bool:
        try:
            return (process / "comm").read_text() == "cat\n" and (process / "cwd").readlink() == self.project
        except OSError:
            return False


@pytest.fixture
def place(short_folder: Path) -> Place:
    return Place(short_folder)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not there")
async def test_a_server_in_a_sandbox_gets_no_client_of_the_nodes(place: Place) -> None:
    sandbox = ["bwrap", "--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc"]
    sandbox += ["--tmpfs", str(place.outside), "--"]
    socket = place.project / "x.sock"
    async with place.server(socket, *sandbox) as agent:
        assert await place.woken(BridgeLook(tmux=f"{socket},1,0", pane="%0", agent=agent)) is Waking.NOT_THERE
        assert not is_outside(agent)
    assert not place.copy.exists()


async def test_a_server_with_its_socket_in_the_project_is_not_spoken_to(place: Place) -> None:
    socket = place.project / "x.sock"
    async with place.server(socket) as agent:
        assert is_outside(agent)
        assert await place.woken(BridgeLook(tmux=f"{socket},1,0", pane="%0", agent=agent)) is Waking.NOT_THERE
    assert not place.copy.exists()


async def test_the_agents_own_server_is_spoken_to_whatever_the_project_names(place: Place) -> None:
    socket, other = place.outside / "own.sock", place.project / "x.sock"
    place.configuration.write_text("")
    async with place.server(socket) as agent:
        assert own_server(agent, place.project) == str(socket)
        assert own_server(agent, place.outside) == ""
        assert await place.woken(BridgeLook(tmux=f"{other},1,0", pane="%0", agent=agent)) is Waking.WOKEN
        shown = ["tmux", "-S", str(socket), "capture-pane", "-p", "-t", "%0"]
        await until(lambda: subprocess.run(shown, capture_output=True, text=True, check=True).stdout.count(LINE) == 2)


def test_what_is_no_socket_of_ones_own_is_none() -> None:
    assert not is_own_socket("/etc/passwd")
    assert not is_own_socket("")
    assert own_server(os.getpid(), Path.cwd()) == ""
    assert own_server(1, Path("/")) == ""
