"""How much of a subscription's usage window is used, as the real Claude Code tells it without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.live.turn_scenarios import the_usage_windows_are_told

from farhand.model.words import UsageWindow
from farhand.testing.claude_env import ClaudeEnv

pytestmark = pytest.mark.anyio
RESETS = 4_102_444_800
UNIFIED = "anthropic-ratelimit-unified-"
HEADERS = {
    f"{UNIFIED}status": "allowed_warning",
    f"{UNIFIED}reset": str(RESETS),
    f"{UNIFIED}representative-claim": "five_hour",
    f"{UNIFIED}5h-status": "allowed_warning",
    f"{UNIFIED}5h-utilization": "0.92",
    f"{UNIFIED}5h-surpassed-threshold": "0.9",
    f"{UNIFIED}5h-reset": str(RESETS),
}
FIVE_HOURS = UsageWindow(name="5h", used_percent=92.0, resets_at=RESETS)


def with_subscription(cli_env: ClaudeEnv) -> None:
    """A token of a subscription in the place of an API key."""
    del cli_env.environment["ANTHROPIC_API_KEY"]
    cli_env.environment["CLAUDE_CODE_OAUTH_TOKEN"] = f"sk-ant-oat01-{'0' * 60}"
    Path(cli_env.environment["HOME"], ".claude.json").write_text('{"hasCompletedOnboarding": true}')


async def test_the_window_is_told_near_its_limit(cli_env: ClaudeEnv) -> None:
    with_subscription(cli_env)
    async with cli_env.open() as house:
        await house.hire(backend="claude", wire="headless", directory=cli_env.project)
        assert await the_usage_windows_are_told(house, cli_env.model, HEADERS) == (FIVE_HOURS,)
