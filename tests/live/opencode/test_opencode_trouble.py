"""The real OpenCode, not installed, or with a key that is refused."""

from __future__ import annotations

import pytest
from tests.live.trouble_scenarios import in_trouble, without_program

from farhand.testing.models.script import Failure
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TRIES = 20
REFUSED = "Its key or sign-in is refused. Renew it at the desk"
IN_BOTH = pytest.mark.parametrize("kind", ["opencode/tmux", "opencode/headless"])


@IN_BOTH
async def test_not_installed(cli_env: OpenCodeEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'opencode' on PATH")


async def test_a_key_that_is_refused(cli_env: OpenCodeEnv, bot: FakeBot) -> None:
    refused = Failure(401, "invalid_request_error", "Incorrect API key provided")
    cli_env.model.script.conversation("zz-key", *[refused] * TRIES)
    async with in_trouble(cli_env, bot, lambda: None) as trouble:
        await trouble.fails("opencode/headless", "zz-key", REFUSED)
