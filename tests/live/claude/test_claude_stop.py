"""`farhand restart` and `farhand stop`, as typed at the desk, with a worker in a real tmux session."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.live.nodes import Home
from tests.spec.promises import promise

from farhand.disk.processes import is_alive
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0


@pytest.fixture
async def home(cli_env: ClaudeEnv) -> AsyncIterator[Home]:
    """A desk in the environment of the real Claude Code."""
    made = Home(cli_env.folder, **{**cli_env.environment, "FARHAND_TMUX_SOCKET": str(cli_env.folder / "tmux")})
    yield made
    await farhand(made, "stop", "--all", "--force")
    await anyio.to_thread.run_sync(made.end_agents)


async def farhand(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    return await anyio.to_thread.run_sync(lambda: home.farhand(*words))


async def panes(cli_env: ClaudeEnv) -> list[tuple[str, int]]:
    """Every session of a worker in the test's tmux, and the process in it."""
    words = [*cli_env.server, "list-panes", "-a", "-F", "#{session_name} #{pane_pid}"]
    done = await anyio.run_process(words, env=cli_env.environment, check=False)
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    return [(name, int(pid)) for name, pid in lines if name.startswith("claude-")]


async def until_gone(pid: int) -> None:
    with anyio.fail_after(SAFETY_SECONDS):
        while is_alive(pid):  # noqa: ASYNC110
            await anyio.sleep(0.02)


@promise("cli.2", "cli.3")
async def test_a_restart_leaves_the_tmux_session_and_stop_ends_it(cli_env: ClaudeEnv, home: Home) -> None:
    script = cli_env.model.script
    script.conversation("You are ann", say("Ann is ready."))
    script.conversation("zz-before", say("heard before"))
    script.conversation("zz-after", say("heard after"))
    told = await farhand(home, "run", "-n", "test", "-p", "0", "--no-telegram", "--no-tunnel", "--detach")
    assert told.returncode == 0, told.stderr
    told = await farhand(home, "hire", "ann", "--tmux", "--dir", str(cli_env.project))
    assert told.returncode == 0, told.stderr
    assert "heard before" in (await farhand(home, "say", "ann", "zz-before", "--wait")).stdout
    before = await panes(cli_env)
    ((session, agent),) = before
    assert session == "claude-test-ann"
    told = await farhand(home, "restart")
    assert (told.returncode, told.stderr) == (0, "Node 'test' stopped; its agents live on.\n")
    assert await panes(cli_env) == before
    assert "heard after" in (await farhand(home, "say", "ann", "zz-after", "--wait")).stdout
    node = int((Path(home.node_folder()) / "pid").read_text().split()[0])
    told = await farhand(home, "stop", "-n", "test")
    assert (told.returncode, told.stdout) == (0, "Node 'test' stopped. 1 agent ended: claude-test-ann.\n")
    assert await panes(cli_env) == []
    await until_gone(agent)
    assert not is_alive(node)
    assert cli_env.agents() == []


@promise("cli.16")
async def test_a_tmux_session_that_was_kept_is_ended_by_stop_of_all_nodes(cli_env: ClaudeEnv, home: Home) -> None:
    cli_env.model.script.conversation("You are ann", say("Ann is ready."))
    cli_env.model.script.conversation("zz-before", say("heard before"))
    assert (await farhand(home, "run", "-n", "test", "-p", "0", "--no-telegram", "--detach")).returncode == 0
    assert (await farhand(home, "hire", "ann", "--tmux", "--dir", str(cli_env.project))).returncode == 0
    assert "heard before" in (await farhand(home, "say", "ann", "zz-before", "--wait")).stdout
    before = await panes(cli_env)
    assert (await farhand(home, "stop", "--keep-workers")).stdout == "Node 'test' stopped.\n"
    assert (await farhand(home, "stop", "--all", "--keep-workers")).stdout == "No node is running.\n"
    assert await panes(cli_env) == before
    told = await farhand(home, "stop", "--all")
    assert told.stdout == "Node 'test' was not running. 1 agent ended: claude-test-ann.\n"
    assert await panes(cli_env) == []
    await until_gone(before[0][1])
