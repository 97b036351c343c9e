"""How hard the real Claude Code thinks: chosen at the hiring, changed later, with a terminal and without."""

from __future__ import annotations

import pytest
from tests.live.turn_scenarios import AskedWith, the_chosen_effort_reaches_the_model

from farhand.testing.claude_env import ClaudeEnv

pytestmark = pytest.mark.anyio


def effort_of(call: AskedWith) -> object:
    """What the Messages API was told."""
    return call.body["output_config"]["effort"]


@pytest.mark.parametrize("wire", ["headless", "tmux"])
async def test_the_chosen_effort_reaches_the_model(cli_env: ClaudeEnv, wire: str) -> None:
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, cli_env.model, f"claude/{wire}", cli_env.project, effort_of)
