"""The real Claude Code, started by hand, reached through the two files of the bridge alone."""

from __future__ import annotations

import pytest
from tests.live.bridge_scenarios import (
    Desk,
    ForeignScript,
    a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn,
)

from farhand.drivers.claude.launch import ClaudePaths, prepare_account
from farhand.testing.claude_env import ClaudeEnv

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(cli_env: ClaudeEnv) -> Desk:
    """Claude Code at a desk, its project bridged."""
    opened = Desk(cli_env)
    await opened.install("claude")
    prepare_account(ClaudePaths.of(cli_env.environment), cli_env.environment, cli_env.project)
    await opened.start(["claude", "--permission-mode", "manual"], "? for shortcuts")
    return opened


@pytest.fixture
def script(cli_env: ClaudeEnv) -> ForeignScript:
    return ForeignScript(cli_env.project)


async def test_a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn(
    cli_env: ClaudeEnv, desk: Desk, script: ForeignScript
) -> None:
    await a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn(desk, script, cli_env.model)
