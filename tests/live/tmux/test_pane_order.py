"""A pane's screen and what it writes meanwhile: every byte is shown once, on the screen or after it."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

import anyio
import pytest

from farhand.drivers.wires.tmux import Pane
from farhand.drivers.wires.tmux.control import control
from farhand.drivers.wires.tmux.panes import PaneFollower
from farhand.testing.house import SAFETY_SECONDS

pytestmark = pytest.mark.anyio
# Speaks control mode: the pane writes between a command and its reply, and right behind the reply.
SERVER = """
import sys

def say(*lines):
    sys.stdout.write("".join(line + "\\n" for line in lines))
    sys.stdout.flush()

say("%begin 1 1 0", "%end 1 1 0")
sys.stdin.readline()
say(
    "%output %1 before", "%begin 1 2 1", "80 24 6 0", "%end 1 2 1",
    "%begin 1 3 1", "before", "%end 1 3 1", "%output %1 after",
)
sys.stdin.readline()
"""


async def test_what_is_on_the_screen_is_not_written_again(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    follower = PaneFollower(Pane(id="%1", session="$1", pid=1))
    with anyio.fail_after(SAFETY_SECONDS):
        async with control([sys.executable, str(server)], (), os.environ, follower.on_notice) as client:
            pieces = follower.pieces(client)
            screen, rest = await anext(pieces), await anext(pieces)
    assert screen.reset
    assert b"before" in base64.b64decode(screen.data)
    assert base64.b64decode(rest.data) == b"after"
