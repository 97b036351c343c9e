"""How much of its account's usage windows and of its context is used, as the real Codex tells it."""

from __future__ import annotations

from functools import partial

import pytest
from tests.live.turn_scenarios import (
    a_sprint_warns_of_a_context_that_is_nearly_full,
    counts,
    the_usage_windows_are_told,
)

from farhand.model.facts import TurnEnded
from farhand.model.words import UsageWindow
from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import say

pytestmark = pytest.mark.anyio
RESETS = 4_102_444_800
HEADERS = {
    "x-codex-primary-used-percent": "42",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-at": str(RESETS),
    "x-codex-secondary-used-percent": "17",
    "x-codex-secondary-window-minutes": "10080",
    "x-codex-secondary-reset-at": str(RESETS),
}


@pytest.mark.parametrize("wire", ["headless", "tmux"])
async def test_the_usage_windows_are_told(cli_env: CodexEnv, wire: str) -> None:
    async with cli_env.open() as house:
        await house.hire(backend="codex", wire=wire, directory=cli_env.project)
        assert await the_usage_windows_are_told(house, cli_env.model, HEADERS) == (
            UsageWindow(name="5h", used_percent=42.0, resets_at=RESETS),
            UsageWindow(name="7d", used_percent=17.0, resets_at=RESETS),
        )


@pytest.mark.parametrize("wire", ["headless", "tmux"])
async def test_a_sprint_warns_when_the_context_is_nearly_full(cli_env: CodexEnv, wire: str) -> None:
    cli_env.model.script.conversation("zz-hello", say("hello"))
    async with cli_env.open() as house:
        await house.hire(backend="codex", wire=wire, directory=cli_env.project)
        await house.say("zz-hello")
        await house.fact(TurnEnded)
        window = house.worker().spent.total.context_window
        assert window > 100_000
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, window, partial(counts, cli_env.model))
