"""The mode of a CLI in a pane is changed by keys, also where the CLI draws late what a key did."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.live.tmux.typed import BOX, until

from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import Keyboard
from farhand.model.ports import NotTaken, Taken
from farhand.model.words import Mode

pytestmark = pytest.mark.anyio
MODES = ("default", "auto_edit", "plan")
# Goes to the next mode at each Shift+Tab, and shows it some looks at the screen later.
LATE = """
import os, pathlib, select, sys, termios, tty
tty.setcbreak(0)
modes, place = sys.argv[2:], 0
while True:
    sys.stdout.write(f"\\x1b[H\\x1b[2Jmode: {modes[place]}\\r\\n")
    sys.stdout.flush()
    pathlib.Path(sys.argv[1], "ready").touch()
    while os.read(0, 64).count(b"\\x1b[Z") == 0:
        pass
    select.select([], [], [], 0.8)
    place = (place + 1) % len(modes)
"""

# Draws nothing at first; whoever presses a key then has not seen its mode.
BLANK_FIRST = """
import os, pathlib, select, sys, tty
tty.setcbreak(0)
pathlib.Path(sys.argv[1], "ready").touch()
if select.select([0], [], [], 0.8)[0]:
    pathlib.Path(sys.argv[1], "too early").touch()
""" + LATE.partition("tty.setcbreak(0)")[2]


def shown(screen: str) -> str | None:
    """The mode that the screen names."""
    lines = [line.removeprefix("mode: ").strip() for line in screen.splitlines() if line.startswith("mode: ")]
    return lines[-1] if lines else None


async def late_cli(tmux: Tmux, folder: Path, program: str = LATE) -> Pane:
    pane = await tmux.start("claude-test-ann", [sys.executable, "-IS", "-c", program, str(folder), *MODES], folder, {})
    await until((folder / "ready").exists)
    return pane


async def test_no_key_goes_past_the_mode_that_is_wanted(tmux: Tmux, short_folder: Path) -> None:
    keyboard = Keyboard(tmux, await late_cli(tmux, short_folder), BOX, lambda _: False)
    assert await keyboard.switch(Mode.PLAN, shown, lambda _: "BTab") == Taken()
    assert shown(await keyboard.screen()) == "plan"


async def test_a_mode_that_is_not_among_them_is_refused_after_one_round(tmux: Tmux, short_folder: Path) -> None:
    keyboard = Keyboard(tmux, await late_cli(tmux, short_folder), BOX, lambda _: False)
    refused = await keyboard.switch(Mode.YOLO, shown, lambda _: "BTab")
    assert isinstance(refused, NotTaken)
    assert refused.why == "This session cannot change to it; a new worker can: /hire <name> --mode yolo"
    assert shown(await keyboard.screen()) == "default"


async def test_no_key_is_pressed_while_the_screen_is_drawn(tmux: Tmux, short_folder: Path) -> None:
    keyboard = Keyboard(tmux, await late_cli(tmux, short_folder, BLANK_FIRST), BOX, lambda _: False)
    assert await keyboard.switch(Mode.PLAN, shown, lambda _: "BTab") == Taken()
    assert not (short_folder / "too early").exists()
