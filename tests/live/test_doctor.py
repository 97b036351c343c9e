"""`farhand doctor`: what it sees of a machine, what it says to do, and what it repairs."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from pathlib import Path

import anyio
import pytest
from tests.spec.test_desk import farhand

from farhand.cli.agent_clis import agent_clis
from farhand.cli.check_result import CheckResult
from farhand.cli.doctor import line
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def program(folder: Path, name: str, said: str) -> None:
    """A program that says this, whatever it is asked."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{said}'\n")
    (folder / name).chmod(0o755)


async def checks(home: Path, *words: str, **environ: str) -> dict[str, tuple[str, str, str]]:
    """All checks by their names: how it is, what is told, what to do."""
    _, told = await farhand(home, "doctor", "-n", "dev", "--json", *words, **environ)
    return {one["name"]: (one["state"], one["told"], one["todo"]) for one in json.loads(told)["checks"]}


async def test_what_is_installed_and_who_is_logged_in(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    program(programs, "claude", "2.1.325 (Claude Code)")
    program(programs, "codex", "codex-cli 9.9.9")
    program(programs, "tmux", "tmux 3.9")
    program(programs, "podman", "podman version 5")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("{}")
    found = await checks(tmp_path, PATH=str(programs))
    assert found["python"][0] == "good"
    assert found["tmux"] == ("good", "3.9", "")
    assert found["claude"] == ("warning", "2.1.325, not logged in", "run claude and type /login")
    assert found["codex"][:2] == ("good", "9.9.9 (tested with 0.166.0), logged in")
    assert found["gemini"] == ("absent", "not installed", "npm install -g @google/gemini-cli")
    assert found["containers"][:2] == ("good", "podman, image claudecode-telegram:latest")
    assert found["hook"][:2] == ("absent", "not installed: only your own sessions need it")
    assert found["token"][:2] == ("warning", "TELEGRAM_BOT_TOKEN not set")
    assert (await checks(tmp_path, PATH=str(tmp_path)))["tmux"][0] == "bad"


def test_a_cli_that_hangs_or_says_nonsense_has_no_version(tmp_path: Path) -> None:
    program(tmp_path / "bin", "claude", "no number here")
    found = {one.backend: one for one in agent_clis({"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)})}
    assert (found["claude"].version, found["claude"].line) == (
        "",
        "version unknown (tested with 2.1.325), not logged in",
    )


async def test_the_bot_and_who_hears_in_its_place(tmp_path: Path, bot: FakeBot) -> None:
    given = {"TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": bot.address}
    found = await checks(tmp_path, **given)
    assert found["token"][:2] == ("good", f"@{bot.username}, id:{bot.token.split(':')[0]}")
    assert (found["webhook"][0], found["polling"][0], found["clock"][0]) == ("good", "good", "good")
    await farhand(tmp_path, "webhook", "https://own.example", NODE_NAME="dev", **given)
    assert (await checks(tmp_path, **given))["webhook"] == ("good", "this node's: https://own.example", "")
    await bot.http.post(f"/bot{bot.token}/setWebhook", json={"url": "https://elsewhere.example"})
    found = await checks(tmp_path, **given)
    assert found["webhook"] == ("bad", "set elsewhere: https://elsewhere.example", "farhand webhook delete")
    found = await checks(tmp_path, **{**given, "TELEGRAM_BOT_TOKEN": "1:no"})
    assert found["token"][:2] == ("bad", "Telegram refuses the bot token.")
    found = await checks(tmp_path, **{**given, "TELEGRAM_API_URL": "http://127.0.0.1:9"})
    assert found["token"][1].startswith("Telegram cannot be reached: ")


async def test_a_port_that_is_taken_and_files_that_others_may_read(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "telegram" / "nodes" / "dev"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "env").write_text("A=1\n")
    (folder / "env").chmod(0o644)
    (folder / "pid").write_text("999999999\n")
    (folder / "pid").chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, told = await farhand(tmp_path, "doctor", "-n", "dev", PORT=str(port))
    assert code == 1
    assert f"✗ port       {port} is already in use  → stop the other process or use --port" in told
    assert "✗ files      others may read env  → farhand doctor --fix" in told
    assert "⚠ pid files  of a process that is gone: pid  → farhand doctor --fix" in told
    assert told.endswith("Node 'dev': 2 to be put right.\n")
    code, told = await farhand(tmp_path, "doctor", "-n", "dev", "--fix", PORT="0")
    assert code == 0, told
    assert re.search(r"Node 'dev': nothing is broken; [1-9] worth a look \(⚠\)\.\n$", told), told
    mode = (await anyio.Path(folder / "env").stat()).st_mode
    assert (stat.S_IMODE(mode), (folder / "pid").exists()) == (0o600, False)


async def test_the_user_that_agents_run_as(tmp_path: Path) -> None:
    absent = await checks(tmp_path)
    assert "run as" not in absent
    unknown = await checks(tmp_path, FARHAND_RUN_AS="nobody-of-that-name")
    assert unknown["run as"][:2] == (
        "bad",
        "FARHAND_RUN_AS: there is no user 'nobody-of-that-name' on this machine.",
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look with another user's eyes")
async def test_what_that_user_could_reach(short_folder: Path) -> None:
    key = short_folder / ".claude" / "telegram" / "nodes" / "dev" / "key"
    key.parent.mkdir(parents=True)
    key.write_text("secret")
    for path in (key, *key.parents):
        if path.is_relative_to(short_folder):
            path.chmod(0o755)
    _, told = await farhand(short_folder, "doctor", "-n", "dev", "--json", FARHAND_RUN_AS="nobody")
    found = [one["told"] for one in json.loads(told)["checks"] if one["name"] == "run as"]
    assert f"nobody can reach {key}: chmod go-rwx {key}" in found


def test_what_a_program_says_of_itself_cannot_fool_the_eye() -> None:
    assert line(CheckResult("tmux", "good", "3\x1b[31m")) == "✓ tmux       3‹U+001B›[31m"
    assert line(CheckResult("tmux", "bad", "no", "get it"), colours=True) == "\x1b[31m✗\x1b[0m tmux       no  → get it"
