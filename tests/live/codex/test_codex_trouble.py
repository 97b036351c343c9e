"""The real Codex, not installed, signed out, without a network, with a refused key, or at its limit."""

from __future__ import annotations

import pytest
from tests.live.trouble_scenarios import in_trouble, without_program

from farhand.model.start_problems import WAITS_FOR_NETWORK
from farhand.testing.codex_env import CodexEnv, codex_settings
from farhand.testing.models.responses import limited
from farhand.testing.models.script import Failure
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TRIES = 20
REFUSED = "Its key or sign-in is refused. Renew it at the desk"
IN_BOTH = pytest.mark.parametrize("kind", ["codex/tmux", "codex/headless"])


@IN_BOTH
async def test_not_installed(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'codex' on PATH", "npm install -g @openai/codex")


@IN_BOTH
async def test_a_key_that_is_refused(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    refused = Failure(401, "invalid_request_error", "Incorrect API key provided")
    cli_env.model.script.conversation("zz-key", *[refused] * TRIES)
    async with in_trouble(cli_env, bot, lambda: None) as trouble:
        await trouble.fails(kind, "zz-key", REFUSED)


@pytest.mark.parametrize(("kind", "words"), [("codex/tmux", ()), ("codex/headless", (WAITS_FOR_NETWORK,))])
async def test_a_network_that_is_away_is_waited_for_until_somebody_stops_that(
    cli_env: CodexEnv, bot: FakeBot, kind: str, words: tuple[str, ...]
) -> None:
    # Nobody listens there.
    cut_off = codex_settings("http://127.0.0.1:9")
    async with in_trouble(cli_env, bot, lambda: cli_env.settings.write_text(cut_off)) as trouble:
        await trouble.waits(kind, "zz-network", *words)


@IN_BOTH
async def test_a_usage_limit(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    cli_env.model.script.conversation("zz-limit", limited("come back tomorrow"))
    async with in_trouble(cli_env, bot, lambda: None) as trouble:
        await trouble.is_limited(kind, "zz-limit")
