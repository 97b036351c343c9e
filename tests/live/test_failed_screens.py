"""What the report of a failed test shows of its terminals and of its node."""

from __future__ import annotations

import subprocess
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.failed_screens import last_events, screens

from farhand.testing.house import open_house

pytestmark = pytest.mark.anyio


async def test_a_failed_test_shows_its_terminals_and_its_last_events(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    waits = "printf 'here I am'; tmux -S $TMUX_SOCKET wait-for -S drawn; cat"
    start = (*tmux_server, "new-session", "-d", "-s", "ann", "-e", f"TMUX_SOCKET={tmux_server[-1]}", waits)
    subprocess.run(start, check=True)
    subprocess.run([*tmux_server, "wait-for", "drawn"], check=True)
    with anyio.fail_after(240):
        while not (shown := list(screens(tmux_server)))[0][1]:
            await anyio.lowlevel.checkpoint()
    assert [(name.split()[-1], screen) for name, screen in shown] == [("ann", "here I am")]
    async with open_house(short_folder) as house:
        await house.hire()
        await house.say("hello")
        (name, events) = next(last_events(short_folder))
    assert name == "last events of test"
    assert '"hello"' in events
    assert list(screens(())) == list(last_events(None)) == []
