"""Escape is pressed again only while Claude Code works or asks: against a real tmux, with recorded screens."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.claude.tmux.screen import takes_escape
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.interrupt import INTERRUPT, interrupt_again
from farhand.drivers.wires.tmux.queue import InputQueue, Timeout

pytestmark = pytest.mark.anyio

SCREENS = Path(__file__).parents[2] / "pure/claude/recordings"
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}
# Shows a screen, and writes down every key.
SCRIPT = 'stty raw -echo opost; cat "$1"; exec cat > "$2"'


@pytest.mark.parametrize(("name", "pressed"), [("tui-interrupted.txt", b"x"), ("tui-busy.txt", b"\x1bx")])
async def test_escape_is_pressed_again_only_while_claude_works(
    tmux_server: tuple[str, ...], short_folder: Path, name: str, pressed: bytes
) -> None:
    keys = short_folder / "keys"
    words = ["sh", "-c", SCRIPT, "sh", str(SCREENS / name), str(keys)]
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        pane = await tmux.start("claude-test-ann", words, short_folder, {})
        keyboard = ClaudeKeyboard(tmux, pane)
        assert await keyboard.shows(lambda screen: "manual mode on" in screen, 60)
        with closing(InputQueue[object]()) as queue:
            await interrupt_again(keyboard, queue, Timeout(INTERRUPT), takes_escape)
        await tmux.press(pane, "x")
        with anyio.fail_after(240):
            while not keys.exists() or not keys.read_bytes().endswith(b"x"):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert keys.read_bytes() == pressed
