"""Spec 2's `status` on a real tmux, a Telegram that answers, and stand-ins of the programs that it looks for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests.spec.promises import promise
from tests.spec.test_desk import farhand

from farhand.config.launch import Launch
from farhand.disk.processes import identity
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
# A stand-in that does what a tunnel does as far as the table of processes tells: it is there.
SLEEPS = "import time\ntime.sleep(600)\n"


def node(home: Path, name: str, tmux_socket: str = "") -> Path:
    folder = home / ".claude" / "telegram" / "nodes" / name
    folder.mkdir(parents=True)
    Launch(sessions=str(folder / "sessions"), tmux_prefix=f"claude-{name}-", tmux_socket=tmux_socket).keep(folder)
    return folder


@promise("cli.5", "cli.47", "output.2", "output.5")
async def test_sessions_with_other_variables_are_marked(
    tmp_path: Path, short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    folder = node(tmp_path, "dev", tmux_socket=str(short_folder / "tmux"))
    for worker, sessions in (("ann", folder / "sessions"), ("bob", "/elsewhere")):
        variables = ["-e", "TMUX_PREFIX=claude-dev-", "-e", f"SESSIONS_DIR={sessions}"]
        made = ["new-session", "-d", *variables, "-s", f"claude-dev-{worker}", "sleep 600"]
        subprocess.run([*tmux_server, *made], check=True)
    code, told = await farhand(tmp_path, "status", "-n", "dev")
    assert (code, told.splitlines()[:5]) == (
        0,
        [
            "Node: dev [stopped]",
            "  sessions: 2 running",
            "            - claude-dev-ann",
            "            - claude-dev-bob [dir]",
            "  ⚠ env mismatch: restart node to fix",
        ],
    )
    said = json.loads((await farhand(tmp_path, "status", "-n", "dev", "--json"))[1])
    assert said["sessions"] == ["claude-dev-ann", "claude-dev-bob"]


@promise("cli.16", "output.3")
async def test_all_nodes_one_block_each(tmp_path: Path) -> None:
    assert await farhand(tmp_path, "status", "--all") == (0, "All Nodes\n\nNo node has been run here.\n")
    node(tmp_path, "dev")
    node(tmp_path, "prod")
    code, told = await farhand(tmp_path, "status", "--all")
    assert (code, told.startswith("All Nodes\n\nNode: dev [stopped]\n")) == (0, True)
    assert "\n\nNode: prod [stopped]\n" in told
    lines = (await farhand(tmp_path, "status", "--all", "--json"))[1].splitlines()
    assert [json.loads(line)["node"] for line in lines] == ["dev", "prod"]


@promise("cli.45", "output.4")
async def test_a_tunnel_that_no_node_owns_is_an_orphan(tmp_path: Path) -> None:
    folder = node(tmp_path, "dev")
    program = tmp_path / "cloudflared"
    program.write_text(SLEEPS)
    command = [sys.executable, str(program), "tunnel", "--url", "http://localhost:8082"]
    async with await anyio.open_process(command, env={"HOME": str(tmp_path)}) as tunnel:
        told = (await farhand(tmp_path, "status", "-n", "dev"))[1]
        assert told.endswith(
            "\n⚠ ORPHAN PROCESSES DETECTED\n"
            f"  tunnel: PID {tunnel.pid} (port 8082) - kill {tunnel.pid}\n"
            "  Fix: kill orphan processes or restart node\n"
        )
        (folder / "tunnel.pid").write_text(identity(tunnel.pid))
        assert "ORPHAN" not in (await farhand(tmp_path, "status", "-n", "dev"))[1]
        code, told = await farhand(tmp_path, "stop", "-n", "dev")
        assert (code, told) == (0, "Node 'dev' was not running. The tunnel ended.\n")
        assert await tunnel.wait() != 0


@promise("output.2", "cli.25")
async def test_the_bot_and_its_webhook_are_asked_of_telegram(tmp_path: Path, bot: FakeBot) -> None:
    folder = node(tmp_path, "dev")
    (folder / "env").write_text(f"TELEGRAM_BOT_TOKEN={bot.token}\nTELEGRAM_API_URL={bot.address}\n")
    told = (await farhand(tmp_path, "status", "-n", "dev"))[1].splitlines()
    assert told[3:] == [f"  bot:      online (@{bot.username}, id:{bot.token.split(':')[0]})", "  webhook:  not set"]
    assert (await farhand(tmp_path, "-n", "dev", "webhook", "https://elsewhere.example"))[0] == 0
    said = json.loads((await farhand(tmp_path, "status", "-n", "dev", "--json"))[1])
    assert (said["token"], said["bot"], said["webhook"]) == (True, bot.username, "https://elsewhere.example")
    (folder / "env").write_text(f"TELEGRAM_BOT_TOKEN=1:wrong\nTELEGRAM_API_URL={bot.address}\n")
    assert "  bot:      error: Telegram refuses the bot token.\n" in (await farhand(tmp_path, "status", "-n", "dev"))[1]
