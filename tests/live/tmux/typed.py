"""What the tests of tmux type into: a pane that writes down what it is given, and how its box is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio

from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.host import TmuxHostOptions
from farhand.drivers.wires.tmux.submit import BoxOptions

TYPIST = Path(__file__).with_name("typist.py")
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}


def read_box(screen: str) -> str | None:
    """What the typist's box holds."""
    line = next((line for line in screen.splitlines() if line.startswith(">")), None)
    return None if line is None else line[1:].strip()


BOX = BoxOptions(read_box=read_box, stash="C-s", timeout_seconds=60)


def host_options(folder: Path, grace_seconds: float = 5.0) -> TmuxHostOptions:
    """How the tmux host of a test is set up."""
    return TmuxHostOptions(
        node="test",
        tmux_prefix="test-",
        folder=folder / "node",
        socket=folder / "hooks",
        interpreter=sys.executable,
        hook_program=folder / "hook.py",
        grace_seconds=grace_seconds,
    )


async def until(right: Callable[[], bool]) -> None:
    """Waits for a condition outside our event loop."""
    with anyio.fail_after(240):
        while not right():  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def shown(tmux: Tmux, pane: Pane, text: str) -> None:
    """Waits until the box shows this text."""
    with anyio.fail_after(240):
        while read_box(await tmux.capture(pane)) != text:
            pass


def submitted(folder: Path) -> list[str]:
    """The texts that were submitted, whole."""
    file = folder / "submitted"
    return file.read_bytes().decode().split("\0")[:-1] if file.exists() else []
