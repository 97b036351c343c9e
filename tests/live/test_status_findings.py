"""`farhand status` of nodes that really run: two with one bot, and a session that is older than its hooks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live.nodes import Home
from tests.spec.promises import promise

from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[Home]:
    """A home without any node, with a tmux of its own."""
    made = Home(short_folder, FARHAND_TMUX_SOCKET=tmux_server[-1], SHELL="/bin/sh")
    yield made
    await farhand(made, "stop", "--all", "--force")
    await anyio.to_thread.run_sync(made.end_agents)


async def farhand(home: Home, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    usual = home.environment
    home.environment = {**usual, **variables}
    try:
        return await anyio.to_thread.run_sync(lambda: home.farhand(*words))
    finally:
        home.environment = usual


@promise("cli.46", "output.3")
async def test_nodes_that_run_with_one_bot_are_told_of(home: Home, bot: FakeBot) -> None:
    token = {"TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": bot.address}
    for node in ("dev", "test"):
        told = await farhand(home, "run", "-n", node, "-p", "0", "--no-tunnel", "--detach", **token)
        assert told.returncode == 0, told.stderr
    told = await farhand(home, "run", "-n", "other", "-p", "0", "--no-telegram", "--no-tunnel", "--detach")
    assert told.returncode == 0, told.stderr
    number = bot.token.partition(":")[0]
    conflict = (
        f"⚠ CONFLICT: 2 nodes running with same bot (id:{number})\n"
        "  Running: dev test\n"
        "  Only ONE node receives webhook. Others miss messages.\n"
        "  Fix: Use different TELEGRAM_BOT_TOKEN per node, or stop extras.\n"
    )
    for words in (["-n", "dev"], ["-n", "test"], ["--all"]):
        assert conflict in (await farhand(home, "status", *words)).stdout
    # It is no matter of a node that has another bot, or none.
    assert "CONFLICT" not in (await farhand(home, "status", "-n", "other")).stdout
    assert (await farhand(home, "stop", "-n", "test")).returncode == 0
    assert "CONFLICT" not in (await farhand(home, "status", "--all")).stdout


@promise("cli.48", "output.2")
async def test_a_session_that_is_older_than_its_hooks_is_told_of(home: Home, tmux_server: tuple[str, ...]) -> None:
    assert (await farhand(home, "hook", "install")).returncode == 0
    settings = home.folder / ".claude" / "settings.json"
    told = await farhand(home, "run", "-n", "test", "-p", "0", "--no-telegram", "--no-tunnel", "--detach")
    assert told.returncode == 0, told.stderr
    words = ["new-session", "-d", "-s", "claude-test-ann", "-P", "-F", "#{session_created}", "sleep 600"]
    made_at = int(subprocess.run([*tmux_server, *words], capture_output=True, text=True, check=True).stdout)

    async def warned(changed_at: float) -> bool:
        os.utime(settings, (changed_at, changed_at))
        said = json.loads((await farhand(home, "status", "-n", "test", "--json")).stdout)
        text = (await farhand(home, "status", "-n", "test")).stdout
        tags = said.get("session_warnings", {}).get("claude-test-ann", [])
        assert ("stale-hooks" in tags) is ("⚠ stale-hooks: " in text)
        return "stale-hooks" in tags

    assert await warned(made_at + 5)
    assert not await warned(made_at - 5)
    # tmux tells whole seconds: hooks of the second in which the session began may well have been there before it.
    assert not await warned(made_at + 0.5)
