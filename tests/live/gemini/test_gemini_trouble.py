"""The real Gemini CLI, not installed, or without a key."""

from __future__ import annotations

import pytest
from tests.live.trouble_scenarios import in_trouble, without_program

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
IN_BOTH = pytest.mark.parametrize("kind", ["gemini/tmux", "gemini/headless"])


@IN_BOTH
async def test_not_installed(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'gemini' on PATH", "npm install -g @google/gemini-cli")


@pytest.mark.parametrize("kind", ["gemini/tmux"])
async def test_without_a_key(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    def without_key() -> None:
        for name in [name for name in cli_env.environment if name.endswith("API_KEY")]:
            del cli_env.environment[name]

    async with in_trouble(cli_env, bot, without_key) as trouble:
        told = await trouble.cannot_start(kind, "at the desk")
        assert "Not signed in" in told.text or "It has no key" in told.text
