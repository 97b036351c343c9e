"""A node elsewhere, by its address and a device's key alone: `farhand say`, `events`, `chat` and `tui`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.live.nodes import Home

from farhand.testing.tmux import Screen, terminal


class FarNode:
    """A node with the demo worker, and a machine that has nothing of it."""

    def __init__(self, near: Home, far: Home) -> None:
        self._near, self.far = near, far
        self.address = f"http://127.0.0.1:{(near.node_folder() / 'port').read_text().strip()}"

    def pair(self, *flags: str) -> None:
        """The machine elsewhere gets the key of a device, as a program does."""
        told = self._near.farhand("pair", "--node", "test", *flags).stdout
        code = told.splitlines()[0].removeprefix("Code: ")
        wanted = {"code": code, "name": "elsewhere", "bearer": True}
        with httpx2.Client(base_url=self.address, trust_env=False) as client:
            self.far.environment["FARHAND_NODE_KEY"] = client.post("/api/pair", json=wanted).json()["key"]


@pytest.fixture
def far_node(short_folder: Path) -> Iterator[FarNode]:
    near, far = (Home(short_folder / name, PS1="$ ") for name in ("near", "far"))
    for home in (near, far):
        home.folder.mkdir()
    near.start("test", "--demo")
    try:
        yield FarNode(near, far)
    finally:
        near.end_agents()


def see(screen: Screen, text: str) -> str:
    return screen.wait(lambda shown: text in shown, repr(text))


def test_a_device_says_reads_and_talks(far_node: FarNode) -> None:
    far_node.pair()
    at = ("--url", far_node.address)
    said = far_node.far.farhand("say", *at, "-w", "demo", "--wait", "from far away")
    assert (said.returncode, "from far away" in said.stdout) == (0, True), said.stderr
    events = far_node.far.farhand("events", *at, "-w", "demo")
    assert "from far away" in events.stdout
    with terminal(far_node.far.folder, far_node.far.environment, columns=110, rows=30) as screen:
        screen.type(f"{' '.join(far_node.far.command('chat', *at))}; echo left with $?")
        see(screen, "demo")
        screen.type("typed in the chat")
        see(screen, "typed in the chat")
        screen.type("/quit")
        see(screen, "left with 0")
        screen.type(f"clear; {' '.join(far_node.far.command('tui', *at))}; echo left with $?")
        see(screen, "● demo")
        see(screen, "typed in the chat")
        screen.type("typed in the app")
        see(screen, "▌ typed in the app")
        screen.press("C-d")
        see(screen, "left with 0")


def test_a_device_that_may_only_look_says_nothing(far_node: FarNode) -> None:
    far_node.pair("--read-only")
    at = ("--url", far_node.address)
    assert far_node.far.farhand("events", *at).returncode == 0
    said = far_node.far.farhand("say", *at, "-w", "demo", "may I?")
    assert said.returncode != 0
    assert "Traceback" not in said.stderr
    assert "may I?" not in far_node.far.farhand("events", *at).stdout


def test_a_wrong_key_is_one_sentence(far_node: FarNode) -> None:
    far_node.far.environment["FARHAND_NODE_KEY"] = "nonsense"
    said = far_node.far.farhand("say", "--url", far_node.address, "-w", "demo", "hello")
    assert said.returncode != 0
    assert len([line for line in said.stderr.splitlines() if line.startswith("error:")]) == 1
    assert "Traceback" not in said.stderr
