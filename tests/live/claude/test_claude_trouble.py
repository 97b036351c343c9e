"""The real Claude Code: not installed, signed out, a refused key, no network, a limit, trust, an unknown command."""

from __future__ import annotations

import json

import pytest
from tests.live.trouble_scenarios import Trouble, in_trouble, without_program, written

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import Failure, say
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TRIES = 20
IN_BOTH = pytest.mark.parametrize("kind", ["claude/tmux", "claude/headless"])


@IN_BOTH
async def test_not_installed(cli_env: ClaudeEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'claude' on PATH", "npm install -g @anthropic-ai/claude-code")


async def test_new_here_without_a_network(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    async with in_trouble(cli_env, bot, lambda: cli_env.environment.pop("ANTHROPIC_API_KEY")) as trouble:
        await trouble.cannot_start("claude/tmux", "No network. It is tried again by itself.")


@IN_BOTH
async def test_signed_out(cli_env: ClaudeEnv, bot: FakeBot, kind: str) -> None:
    def sign_out() -> None:
        del cli_env.environment["ANTHROPIC_API_KEY"]
        (cli_env.home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True}))

    async with in_trouble(cli_env, bot, sign_out) as trouble:
        await trouble.fails(
            kind, "zz-signed-out", "Not signed in. Sign in at the desk: run claude and type /login. Then"
        )


@pytest.mark.parametrize(
    ("kind", "unknown"), [("claude/tmux", "Unknown command: /zed"), ("claude/headless", "I know no zed.")]
)
async def test_a_panel_a_strange_command_a_refused_key_and_a_usage_limit(
    cli_env: ClaudeEnv, bot: FakeBot, kind: str, unknown: str
) -> None:
    """One after the other on one start of Claude Code, which is what costs."""
    refused = Failure(401, "authentication_error", "invalid x-api-key")
    script = cli_env.model.script
    if kind == "claude/headless":
        # Without a terminal, the command is for the model.
        script.conversation("/zed", say("I know no zed."))
    script.conversation("zz-key", *[refused] * TRIES)
    script.conversation("zz-limit", limited("come back tomorrow"))
    # It would try for minutes.
    async with in_trouble(cli_env, bot, lambda: cli_env.environment.update(CLAUDE_CODE_MAX_RETRIES="1")) as trouble:
        if kind == "claude/tmux":
            await a_panel_of_its_own_is_read_and_closed_and_told_once(trouble)
        await trouble.does_not_know(kind, "/zed hi", unknown)
        await trouble.fails(kind, "zz-key", "at the desk: run claude and type /login. Then try again.")
        await trouble.is_limited(kind, "zz-limit")


async def a_panel_of_its_own_is_read_and_closed_and_told_once(trouble: Trouble) -> None:
    """And not as a dialog that waits."""
    await trouble.does_not_know("claude/tmux", "/status", "(read off the screen)")
    chat = await trouble.manager.sees(bool)
    assert [one.text for one in chat if "waits in a dialog" in one.text or "▔▔" in one.text] == []


@IN_BOTH
async def test_a_network_that_is_away(cli_env: ClaudeEnv, bot: FakeBot, kind: str) -> None:
    def cut_off() -> None:
        # Nobody listens there, and it would try for minutes.
        cli_env.environment.update(ANTHROPIC_BASE_URL="http://127.0.0.1:9", CLAUDE_CODE_MAX_RETRIES="1")

    async with in_trouble(cli_env, bot, cut_off) as trouble:
        await trouble.fails(kind, "zz-network", "No network. Try again when the network is back.")


@IN_BOTH
async def test_a_folder_that_nobody_has_trusted(cli_env: ClaudeEnv, bot: FakeBot, kind: str) -> None:
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch pwned"}]}]}}
    settings = written(cli_env.project / ".claude/settings.json", json.dumps(hook))
    async with in_trouble(cli_env, bot, settings) as trouble:
        await trouble.asks_for_trust(kind, "touch pwned")
