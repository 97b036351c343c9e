"""Our hook in a person's own settings of a CLI, run by the real one: what their session says comes to the phone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from farhand.testing.cli_env import CliEnv
from farhand.testing.phone import SECONDS, with_phone
from farhand.testing.telegram import FakeBot


async def answers_of_ones_own_session_come_once(
    cli_env: CliEnv, bot: FakeBot, backend: str, words: Sequence[str], answer: str
) -> None:
    """The hook is installed, a session that carries a bridge's variables is run to its end, the hook is taken out."""
    before = _files(cli_env.home)
    await _hook(cli_env, "install", backend)
    async with with_phone(cli_env, bot) as phone:
        await phone.manager.says("/hire bob --backend demo")
        await phone.manager.reads("Bob is added", seconds=SECONDS)
        carried = {
            "BRIDGE_URL": f"http://127.0.0.1:{phone.port}",
            "SESSIONS_DIR": str(cli_env.folder / "farhand/nodes/test/sessions"),
            "TMUX_PREFIX": "claude-test-",
            "BRIDGE_SESSION": "bob",
        }
        environment = {**cli_env.environment, **carried}
        done = await anyio.run_process(
            words, env=environment, cwd=cli_env.project, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False
        )
        assert done.returncode == 0, done.stdout.decode()
        await phone.hears(answer)
        assert await phone.answers(answer) == 1
    await _hook(cli_env, "uninstall", backend)
    after = _files(cli_env.home)
    assert {path: after.get(path) for path in before} == before


async def _hook(cli_env: CliEnv, what: str, backend: str) -> None:
    command = [sys.executable, "-m", "farhand", "hook", what, "--backend", backend]
    await anyio.run_process(command, env=cli_env.environment, cwd=cli_env.project)


def _files(home: Path) -> dict[str, bytes]:
    """The settings that a person has, by their names."""
    names = (".gemini/settings.json", ".codex/hooks.json", ".codex/config.toml", ".config/opencode/opencode.json")
    return {name: (home / name).read_bytes() for name in names if (home / name).exists()}
