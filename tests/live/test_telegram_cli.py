"""The whole thing as a manager starts it: `farhand run` with a token, a talk, and the token nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.spec.promises import promise

from farhand.testing.leftovers import end_agents
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def environment(bot: FakeBot, home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FARHAND_HOST": "127.0.0.1",
        "FARHAND_TEMPORARY": str(home / "temporary"),
        "TELEGRAM_BOT_TOKEN": bot.token,
        "TELEGRAM_API_URL": bot.address,
        "TELEGRAM_WEBHOOK_SECRET": "a-secret-of-the-webhook",
        "TUNNEL_URL": "https://never.example",
    }


@asynccontextmanager
async def farhand(bot: FakeBot, home: Path, *more: str) -> AsyncIterator[anyio.abc.Process]:
    command = [sys.executable, "-m", "farhand", "run", "--node", "cli", "-p", "0", "--headless", "--demo", "-v", *more]
    log = (home / "log").open("ab")
    process = await anyio.open_process(command, env=environment(bot, home), cwd=home, stdout=log, stderr=log)
    try:
        yield process
        process.terminate()
        assert await process.wait() == 0
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            log.close()


def environments_of_agents(home: Path) -> list[bytes]:
    """The environment of every process that runs in that home beside the node."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(home) in str((entry / "cwd").readlink()):
                found.append((entry / "environ").read_bytes())
        except OSError:
            continue
    return found


@promise("overview.1", "overview.2", "cli.18", "cli.39")
@promise("files.3", "security.1")
async def test_a_manager_talks_to_the_demo_and_the_token_stays_in_the_node(tmp_path: Path, bot: FakeBot) -> None:
    manager = bot.person(7, "Mo")
    try:
        async with farhand(bot, tmp_path, "--no-tunnel"):
            await bot.until_standing(lambda standing: standing.polling)
            await manager.says("tool")
            await manager.reads("demo:")
            command = [sys.executable, "-m", "farhand", "status", "--node", "cli"]
            home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
            status = (await anyio.run_process(command, env=home)).stdout.decode()
            assert f"telegram: polling as @{bot.username}" in status
            # The workers bring their hooks along; what is the person's own is left as it was.
            assert not (tmp_path / ".claude" / "settings.json").exists()
            assert not (tmp_path / ".claude" / "hooks").exists()
            agents = [one for one in environments_of_agents(tmp_path) if b"TELEGRAM_API_URL" not in one]
            assert agents
            assert not [one for one in agents if bot.token.encode() in one or b"a-secret-of" in one]
        text = (tmp_path / "log").read_text() + "".join(
            file.read_text(errors="replace") for file in tmp_path.rglob("*.log")
        )
        assert bot.token not in text
        assert bot.token.split(":")[1] not in text
        assert "a-secret-of" not in text
        log = tmp_path / ".claude" / "telegram" / "nodes" / "cli" / "bridge.log"
        assert "node ready" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600
        kept = tmp_path / ".claude" / "telegram" / "nodes" / "cli" / "last_chat_id"
        assert kept.read_text() == "7"
        assert kept.stat().st_mode & 0o777 == 0o600
    finally:
        with anyio.CancelScope(shield=True):
            await end_agents(tmp_path)


def test_a_wrong_admin_is_told_in_one_line(tmp_path: Path, telegram_address: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TELEGRAM_BOT_TOKEN": "1:x", "ADMIN_CHAT_ID": "me"}
    command = [sys.executable, "-m", "farhand", "run", "--node", "cli", "-p", "0", "--headless", "--no-tunnel"]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 2
    assert "ADMIN_CHAT_ID must be a number, not 'me'." in ended.stderr
    assert "Traceback" not in ended.stderr
