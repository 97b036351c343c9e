"""The end of a stopped turn is told when Codex's screen knows of it: against a real tmux, with recorded screens."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Never

import anyio
import pytest

from farhand.drivers.codex.tmux.hooks import WORDING
from farhand.drivers.codex.tmux.keyboard import CodexKeyboard
from farhand.drivers.codex.tmux.link import CodexCli, CodexStartFile
from farhand.drivers.codex.tmux.screen import is_stopped, takes_escape
from farhand.drivers.codex.tmux.state import CodexCursor
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.facts import TurnEnded

pytestmark = pytest.mark.anyio

SCREENS = Path(__file__).parents[2] / "pure/codex/recordings"
# Shows a screen, and another one after a key.
SCRIPT = 'stty raw -echo opost; cat "$1"; head -c 1 > /dev/null; clear; cat "$2"; exec cat > /dev/null'


def event(**payload: Any) -> str:
    """A line of a rollout."""
    return json.dumps({"type": "event_msg", "payload": {"turn_id": "one", **payload}}) + "\n"


async def test_the_end_of_a_stopped_turn_waits_for_the_screen(tmux: Tmux, short_folder: Path) -> None:
    rollout = short_folder / "rollout.jsonl"
    prompt = {"type": "UserMessage", "id": "m", "content": [{"type": "text", "text": "hello"}]}
    rollout.write_text(event(type="item_completed", item=prompt) + event(type="turn_aborted"))
    words = ["sh", "-c", SCRIPT, "sh", str(SCREENS / "tui-busy-thinking.txt"), str(SCREENS / "tui-interrupted.txt")]
    pane = await tmux.start("claude-test-ann", words, short_folder, {})
    keyboard = CodexKeyboard(tmux, pane)
    assert await keyboard.shows(takes_escape, 240)
    told = anyio.Event()

    async def tell() -> None:
        await cli.on_turn_ended()
        told.set()

    with closing(InputQueue[Never]()) as queue:
        asks = HookAsks(WORDING, 60.0, queue, keyboard.where)
        cursor = CodexCursor(path=str(rollout))
        cli = CodexCli(queue, keyboard, asks, cursor, CodexStartFile(short_folder), short_folder)
        assert any(isinstance(one.fact, TurnEnded) for one in cli.read())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tell)
            await anyio.wait_all_tasks_blocked()
            assert not told.is_set()
            await tmux.press(pane, "x")
            await told.wait()
    assert is_stopped(await keyboard.screen())
