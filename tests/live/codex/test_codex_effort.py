"""How hard the real Codex thinks: chosen at the hiring, changed later, over its server and a process a turn."""

from __future__ import annotations

import pytest
from tests.live.turn_scenarios import AskedWith, the_chosen_effort_reaches_the_model

from farhand.testing.codex_env import CodexEnv

pytestmark = pytest.mark.anyio


def effort_of(call: AskedWith) -> object:
    """What the Responses API was told."""
    return call.body["reasoning"]["effort"]


@pytest.mark.parametrize("wire", ["headless", "exec"])
async def test_the_chosen_effort_reaches_the_model(cli_env: CodexEnv, wire: str) -> None:
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, cli_env.model, f"codex/{wire}", cli_env.project, effort_of)
